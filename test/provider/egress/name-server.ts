import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

/** A name server on loopback. Each question for a name's address gets the next of its answers; the last one stays. */
export class NameServer {
  /** Names asked for, in order; AAAA questions are answered with nothing and not counted. */
  readonly asked: string[] = [];
  readonly #socket: Socket = createSocket("udp4");
  readonly #answers = new Map<string, string[][]>();

  async listen(): Promise<string> {
    this.#socket.on("message", (query, { port, address }) => this.#socket.send(this.#answer(query), port, address));
    this.#socket.bind(0, "127.0.0.1");
    await once(this.#socket, "listening");
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  /** `say("rebind.test", ["93.184.216.34"], ["127.0.0.1"])`: first the one, from then on the other. */
  say(name: string, ...answers: string[][]): void {
    this.#answers.set(name, answers);
  }

  close(): void {
    this.#socket.close();
  }

  #answer(query: Buffer): Buffer {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += 1 + length;
    }
    const isA = query.readUInt16BE(at + 1) === 1;
    const name = labels.join(".").toLowerCase();
    const known = this.#answers.get(name) ?? [];
    const addresses = isA ? ((known.length > 1 ? known.shift() : known[0]) ?? []) : [];
    if (isA) this.asked.push(name);
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(addresses.length, 6);
    head.writeUInt32BE(0, 8);
    // Name by pointer, type A, class IN, no time to live.
    const records = addresses.map((address) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
    );
    return Buffer.concat([head, query.subarray(12, at + 5), ...records]);
  }
}
