import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { type ReceivedSpan, readLogs, readMetricNames, readSpans } from "./protobuf-reader.ts";

export type Behaviour = "accept" | "refuse" | "hang";

/** An OTLP/HTTP receiver on loopback, as good or bad as a test wants it. */
export class Receiver {
  readonly spans: ReceivedSpan[] = [];
  readonly logs: ReturnType<typeof readLogs> = [];
  readonly metricNames = new Set<string>();
  readonly headers: IncomingMessage["headers"][] = [];
  requests = 0;
  /** Requests that nobody has given up. */
  hanging = 0;
  behaviour: Behaviour = "accept";
  readonly #server = createServer((request, response) => this.#serve(request, response));

  static async start(port = 0): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(port, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      this.requests++;
      this.headers.push(request.headers);
      if (this.behaviour === "hang") {
        this.hanging++;
        response.once("close", () => this.hanging--);
        return;
      }
      if (this.behaviour === "refuse") {
        response.writeHead(400).end();
        return;
      }
      const body = Buffer.concat(parts);
      this.#take(request.url ?? "", request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body);
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  }

  #take(url: string, body: Uint8Array): void {
    if (url.endsWith("/v1/traces")) this.spans.push(...readSpans(body));
    if (url.endsWith("/v1/logs")) this.logs.push(...readLogs(body));
    if (url.endsWith("/v1/metrics")) for (const name of readMetricNames(body)) this.metricNames.add(name);
  }
}
