import type { Server } from "node:http";
import { messageOf, VenturiError } from "venturi/plugin";

/** The listening side of the server, which can be removed and restored while connections continue. */
export class Listener {
  #server: Server;
  #host: string;
  #port = 0;
  closed = false;

  constructor(server: Server, host: string) {
    this.#server = server;
    this.#host = host;
  }

  open(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const onError = (cause: Error) => {
        const message = `cannot listen on ${this.#host}:${port}: ${messageOf(cause)}`;
        reject(new VenturiError("simulator.start", "unavailable", message, { cause }));
      };
      this.#server.once("error", onError);
      this.#server.listen(port, this.#host, () => {
        this.#server.off("error", onError);
        const address = this.#server.address();
        this.#port = typeof address === "object" && address !== null ? address.port : port;
        resolve(this.#port);
      });
    });
  }

  /** `close` calls back when the last connection ends, but listening stops at once. */
  refuse(): void {
    if (this.#server.listening) this.#server.close();
  }

  async accept(): Promise<void> {
    if (!this.#server.listening && !this.closed) await this.open(this.#port);
  }

  /** Another connection may briefly hold the port, so binding is retried. */
  refuseFor(ms: number): void {
    this.refuse();
    setTimeout(() => {
      this.accept().catch(() => this.refuseFor(Math.max(1, ms)));
    }, ms).unref();
  }

  async close(): Promise<void> {
    this.closed = true;
    const stopped = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await stopped;
  }
}
