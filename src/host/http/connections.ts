import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * A server's sockets, and which are in use. Node's `closeIdleConnections` skips sockets that browsers and fetch opened in advance and never
 * used, so closing the server would wait for them.
 */
export class Connections {
  readonly #open = new Set<Socket>();
  readonly #quiet = new Set<Socket>();
  readonly #none = Promise.withResolvers<void>();
  #closing = false;
  /** How many were ever opened. */
  opened = 0;
  onOpened: () => void = () => {};
  /** Above this number, a connection is closed after its next response, so that its client opens a new one. */
  mostKept = Number.POSITIVE_INFINITY;

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#open.add(socket);
      this.#quiet.add(socket);
      this.opened++;
      this.onOpened();
      socket.once("close", () => {
        this.#quiet.delete(socket);
        this.#open.delete(socket);
        this.#resolveIfClosed();
      });
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#quiet.delete(socket);
      if (this.#open.size > this.mostKept) response.shouldKeepAlive = false;
      response.once("close", () => {
        if (this.#closing) socket.destroySoon();
        else if (!socket.destroyed) this.#quiet.add(socket);
      });
    });
    server.on("upgrade", ({ socket }: IncomingMessage) => this.#quiet.delete(socket));
  }

  get count(): number {
    return this.#open.size;
  }

  /** Closes idle sockets now and the others after their response. */
  close(): void {
    this.#closing = true;
    for (const socket of this.#quiet) socket.destroy();
    this.#resolveIfClosed();
  }

  /** Closes the rest, upgraded ones too: a WebSocket would wait 30 s for a peer that does not answer its close. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Resolves when all sockets are closed after `close`: a server that does not listen itself would not wait for them. */
  get closed(): Promise<void> {
    return this.#none.promise;
  }

  #resolveIfClosed(): void {
    if (this.#closing && this.#open.size === 0) this.#none.resolve();
  }
}
