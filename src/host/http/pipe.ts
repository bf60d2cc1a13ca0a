import { Duplex } from "node:stream";

/** One end of an in-process connection, with the socket members that Node's HTTP and our code use. */
export class Pipe extends Duplex {
  readonly remoteAddress = "127.0.0.1";
  #peer: Pipe | undefined;
  #flushed = 0;
  /** Continues the peer's write once this side has read. */
  #resume: (() => void) | undefined;

  static pair(): readonly [Pipe, Pipe] {
    const [one, other] = [new Pipe(), new Pipe()];
    one.#peer = other;
    other.#peer = one;
    return [one, other];
  }

  /** Includes buffered bytes, as for a socket. */
  get bytesWritten(): number {
    return this.#flushed + this.writableLength;
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  override _read(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const peer = this.#peer;
    const flushed = () => {
      this.#flushed += chunk.length;
      done();
    };
    if (peer === undefined || peer.destroyed || peer.push(chunk)) flushed();
    else peer.#resume = flushed;
  }

  override _final(done: () => void): void {
    this.#peer?.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const peer = this.#peer;
    // After a regular end the peer may read what remains; anything else is a broken connection.
    if (!this.writableFinished) process.nextTick(() => peer?.destroy());
    else this.#resume?.();
    done(error);
  }
}
