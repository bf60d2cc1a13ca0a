import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What happens to one event stream. Frames are counted from 0 over this connection. */
export interface Harm {
  /** Cuts the connection in the middle of this frame. */
  readonly cutAt?: number;
  /** Ends the response properly before this frame, as a proxy does that lost its upstream. */
  readonly endAt?: number;
  /** Leaves this frame out. */
  readonly omit?: number;
  /** Sends this frame twice, the second time three frames later. */
  readonly repeat?: number;
  /** Answers with this status instead. */
  readonly status?: number;
  readonly retryAfter?: string;
  /** Keeps the connection open and sends nothing after this frame. */
  readonly hangAt?: number;
  /** Writes bytes one by one. */
  readonly drip?: boolean;
}

/** Stands between client and service and does `harm` to the next event streams, in order; what follows passes unharmed. */
export class BadProxy {
  readonly harm: Harm[] = [];
  /** The `last-event-id` of each stream that was asked for. */
  readonly asked: string[] = [];
  /** When each request arrived. */
  readonly times: number[] = [];
  readonly #server: Server;
  readonly #target: URL;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((from, to) => this.#pass(from, to));
  }

  static async start(target: string): Promise<BadProxy> {
    const proxy = new BadProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** For tests in other languages: `PUT /_harm` with what is to happen next; `GET /_asked`. */
  async #control(from: IncomingMessage, to: ServerResponse): Promise<void> {
    if (from.method === "PUT") {
      let text = "";
      for await (const part of from.setEncoding("utf8")) text += part;
      this.harm.splice(0, this.harm.length, ...(JSON.parse(text) as Harm[]));
      this.asked.length = 0;
    }
    to.setHeader("content-type", "application/json").end(JSON.stringify(this.asked));
  }

  #pass(from: IncomingMessage, to: ServerResponse): void {
    if (from.url?.startsWith("/_")) return void this.#control(from, to);
    this.times.push(performance.now());
    const isStream = from.url?.includes("/events") === true;
    if (isStream) this.asked.push(String(from.headers["last-event-id"] ?? ""));
    const harm = isStream || this.harm[0]?.status !== undefined ? (this.harm.shift() ?? {}) : {};
    if (harm.status !== undefined) {
      const headers = harm.retryAfter === undefined ? {} : { "retry-after": harm.retryAfter };
      to.writeHead(harm.status, headers).end("busy");
      return;
    }
    const { hostname, port } = this.#target;
    const onward = request({ hostname, port, path: from.url, method: from.method, headers: from.headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      if (isStream && answer.statusCode === 200) void this.#frames(answer, to, harm);
      else answer.pipe(to);
      answer.on("error", () => to.destroy());
    });
    onward.on("error", () => to.destroy());
    to.on("close", () => onward.destroy());
    from.pipe(onward);
  }

  async #frames(answer: IncomingMessage, to: ServerResponse, harm: Harm): Promise<void> {
    let rest = "";
    let count = 0;
    let late: { frame: string; at: number } | undefined;
    answer.setEncoding("utf8");
    try {
      for await (const text of answer) {
        const frames = (rest + text).split("\n\n");
        rest = frames.pop() ?? "";
        for (const bare of frames) {
          const frame = `${bare}\n\n`;
          const index = count++;
          if (index === harm.cutAt) {
            to.write(frame.slice(0, frame.length / 2), () => to.destroy());
            return;
          }
          if (index === harm.endAt) return void to.end();
          if (index === harm.hangAt) return;
          if (index === harm.repeat) late = { frame, at: index + 3 };
          if (index === harm.omit) continue;
          if (harm.drip) for (const byte of Buffer.from(frame)) to.write(Uint8Array.of(byte));
          else to.write(frame);
          if (index === harm.repeat) to.write(frame);
          if (late?.at === index) to.write(late.frame);
        }
      }
      to.end();
    } catch {
      to.destroy();
    }
  }
}
