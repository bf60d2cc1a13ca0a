import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A real HTTP server on a loopback port that answers as the test says. */
export class Loopback {
  readonly requests: { request: IncomingMessage; body: string }[] = [];
  readonly sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(answer: (response: ServerResponse, request: IncomingMessage) => void) {
    this.#server = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      this.requests.push({ request, body: Buffer.concat(pieces).toString() });
      answer(response, request);
    });
    this.#server.on("connection", (socket) => this.sockets.add(socket));
  }

  static async start(answer: (response: ServerResponse, request: IncomingMessage) => void): Promise<Loopback> {
    const loopback = new Loopback(answer);
    loopback.#server.listen(0, "127.0.0.1");
    await once(loopback.#server, "listening");
    return loopback;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on a port, not on a pipe
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}
