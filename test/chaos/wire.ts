import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy that can turn into a black hole: connections stay open, new ones are accepted, nothing passes. */
export class Wire {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #servers = new Set<Socket>();
  #swallowing = false;
  #to: number;

  private constructor(server: Server, to: number) {
    this.#server = server;
    this.#to = to;
  }

  static async to(port: number): Promise<Wire> {
    const server = createServer();
    const proxy = new Wire(server, port);
    server.on("connection", (client) => proxy.#join(client));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy is closed");
    return address.port;
  }

  /** New connections lead there. */
  lead(port: number): void {
    this.#to = port;
  }

  /** What is under way never arrives, not even after `pass`: those connections are dead, and nobody says so. */
  swallow(): void {
    this.#swallowing = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  /** The same for what the server says; what it is told still arrives. */
  swallowAnswers(): void {
    this.#swallowing = true;
    for (const server of this.#servers) server.unpipe().pause();
  }

  /** New connections pass again. */
  pass(): void {
    this.#swallowing = false;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(client: Socket): void {
    this.#track(client);
    if (this.#swallowing) return;
    const server = connect(this.#to, "127.0.0.1");
    this.#track(server);
    this.#servers.add(server);
    server.on("close", () => this.#servers.delete(server));
    client.pipe(server).pipe(client);
    // A dead connection's ends must not learn of each other's fate.
    client.on("close", () => server.destroy());
    server.on("close", () => {
      if (!server.isPaused()) client.destroy();
    });
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {}); // seen as a close
    socket.on("close", () => this.#sockets.delete(socket));
  }
}
