import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Passes bytes on, and cuts each of the next connections after as many bytes from the service as `cuts` says. */
export class CutWire {
  readonly cuts: number[] = [];
  /** Connections so far. */
  opened = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #mute = new WeakSet<Socket>();

  private constructor(target: string) {
    const { hostname, port } = new URL(target);
    this.#server = createServer((client) => {
      this.opened++;
      let left = this.cuts.shift() ?? Number.POSITIVE_INFINITY;
      const service = connect(Number(port), hostname);
      for (const [socket, other] of [
        [client, service],
        [service, client],
      ] as const) {
        this.#sockets.add(socket);
        socket.on("error", () => other.destroy());
        socket.on("close", () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
      }
      client.pipe(service);
      service.on("data", (bytes) => {
        if (this.#mute.has(service)) return;
        client.write(bytes.subarray(0, Math.min(left, bytes.length)));
        left -= bytes.length;
        if (left <= 0) client.end(() => client.destroy());
      });
    });
  }

  static async start(target: string): Promise<CutWire> {
    const wire = new CutWire(target);
    wire.#server.listen(0, "127.0.0.1");
    await once(wire.#server, "listening");
    return wire;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on nothing arrives on the connections that stand, and nothing closes them, as when a network is gone. */
  mute(): void {
    for (const socket of this.#sockets) this.#mute.add(socket);
  }

  /** Cuts the connections that stand. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }
}
