import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * A server's sockets and which of them are in use. Node's `closeIdleConnections` skips sockets that browsers and fetch opened
 * in advance and never used, and the server would wait for them to close.
 */
export class Connections {
  readonly #quiet = new Set<Socket>();
  #closing = false;

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#quiet.add(socket);
      socket.once("close", () => this.#quiet.delete(socket));
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#quiet.delete(socket);
      response.once("close", () => {
        if (this.#closing) socket.destroySoon();
        else if (!socket.destroyed) this.#quiet.add(socket);
      });
    });
    server.on("upgrade", ({ socket }: IncomingMessage) => this.#quiet.delete(socket));
  }

  /** Closes idle sockets now and the others after their response. */
  close(): void {
    this.#closing = true;
    for (const socket of this.#quiet) socket.destroy();
  }
}
