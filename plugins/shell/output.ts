import { StringDecoder } from "node:string_decoder";

/** Keeps the first and last bytes of a stream of any length. */
export class HeadAndTail {
  readonly #half: number;
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  #headSize = 0;
  #tailSize = 0;
  #left = 0;

  constructor(most: number) {
    this.#half = Math.max(1, Math.floor(most / 2));
  }

  push(chunk: Buffer): void {
    const room = this.#half - this.#headSize;
    if (room > 0) {
      const first = chunk.subarray(0, room);
      this.#head.push(first);
      this.#headSize += first.length;
    }
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length > 0) this.#keepTail(rest);
  }

  get truncated(): boolean {
    return this.#left > 0;
  }

  text(): string {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (!this.truncated) return Buffer.concat([head, tail]).toString("utf8");
    return `${head.toString("utf8")}\n… ${this.#left} bytes left out …\n${tail.toString("utf8")}`;
  }

  #keepTail(chunk: Buffer): void {
    this.#tail.push(chunk);
    this.#tailSize += chunk.length;
    while (this.#tailSize > this.#half) {
      const [oldest] = this.#tail;
      if (oldest === undefined) return;
      const over = Math.min(this.#tailSize - this.#half, oldest.length);
      this.#left += over;
      this.#tailSize -= over;
      if (over === oldest.length) this.#tail.shift();
      else this.#tail[0] = oldest.subarray(over);
    }
  }
}

const longestLine = 8_192;

/** Emits complete lines, batched per read, up to a total number of characters. */
export class Lines {
  readonly #decoder = new StringDecoder("utf8");
  readonly #emit: (text: string) => void;
  #open = "";
  #room: number;

  constructor(most: number, emit: (text: string) => void) {
    this.#room = most;
    this.#emit = emit;
  }

  push(chunk: Buffer): void {
    if (this.#room <= 0) return;
    this.#open += this.#decoder.write(chunk);
    const end = this.#open.length > longestLine ? this.#open.length : this.#open.lastIndexOf("\n") + 1;
    if (end > 0) this.#hand(this.#open.slice(0, end));
    this.#open = this.#open.slice(end);
  }

  end(): void {
    this.#hand(this.#open + this.#decoder.end());
    this.#open = "";
  }

  #hand(text: string): void {
    if (text === "" || this.#room <= 0) return;
    this.#emit(text.slice(0, this.#room));
    this.#room -= text.length;
  }
}
