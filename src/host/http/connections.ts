import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * The sockets of a server and which of them are answering. Node's own `closeIdleConnections` leaves those alone that were
 * opened in advance and never used, as browsers and fetch do, and the server would wait for them to close.
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

  /** Closes those that answer nothing now, and each of the others when it has answered. */
  close(): void {
    this.#closing = true;
    for (const socket of this.#quiet) socket.destroy();
  }
}
