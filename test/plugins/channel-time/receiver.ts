import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly id: string;
  readonly body: {
    readonly type: string;
    readonly data: Record<string, unknown> & { readonly run: string; readonly seq: number };
  };
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  readonly status: number;
}

/** A receiver of webhooks on loopback that answers as it is told to. */
export class TestReceiver {
  readonly received: Received[] = [];
  answer: (received: Omit<Received, "status">) => number | Promise<number> = () => 200;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", async () => {
        const text = Buffer.concat(parts).toString();
        const { headers } = request;
        const each = { id: String(headers["webhook-id"]), body: JSON.parse(text), text, headers };
        const status = await this.answer(each);
        this.received.push({ ...each, status });
        response.writeHead(status).end();
      });
    });
  }

  async open(port = 0): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/in`;
  }

  get taken(): Received[] {
    return this.received.filter(({ status }) => status < 300);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
