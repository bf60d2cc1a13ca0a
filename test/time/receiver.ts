import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { signature } from "../../plugins/channel-time/sign.ts";

export const secret = "whsec_c2VjcmV0LW9mLXRoZS1yZWNlaXZlcg==";

/** Fails three of ten, answers some slowly, and goes away for a while. It remembers what it took, in order. */
export class FaultyReceiver {
  readonly taken: { readonly id: string; readonly run: string; readonly seq: number; readonly type: string }[] = [];
  readonly violations: string[] = [];
  refused = 0;
  faults = true;
  port = 0;
  readonly #random: () => number;
  #server: Server | undefined;

  constructor(random: () => number) {
    this.#random = random;
  }

  async open(): Promise<void> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const body = Buffer.concat(parts).toString();
        const header = (name: string) => String(request.headers[name]);
        const [id, timestamp] = [header("webhook-id"), header("webhook-timestamp")];
        if (header("webhook-signature") !== signature(secret, { id, timestamp, body }))
          this.violations.push(`${id} is not signed`);
        const fails = this.faults && this.#random() < 0.3;
        const wait = this.faults && this.#random() < 0.2 ? 300 : 0;
        setTimeout(() => {
          if (fails) this.refused += 1;
          else this.#take(id, body);
          response.writeHead(fails ? 500 : 204).end();
        }, wait);
      });
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", resolve));
    this.port = (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  /** By id, as a receiver is to do: each message once, and never one that lies before the last of its run. */
  get once(): Map<string, number[]> {
    const runs = new Map<string, number[]>();
    const seen = new Set<string>();
    for (const { id, run, seq } of this.taken) {
      if (seen.has(id)) continue;
      seen.add(id);
      runs.set(run, [...(runs.get(run) ?? []), seq]);
    }
    return runs;
  }

  #take(id: string, body: string): void {
    const { type, data } = JSON.parse(body) as { type: string; data: { run: string; seq: number } };
    this.taken.push({ id, run: data.run, seq: data.seq, type });
  }
}
