import { performance } from "node:perf_hooks";

export interface Source {
  pause(): void;
  resume(): void;
}

const highWaterMark = 64 * 1024;
/** Never pushed to. */
const none: Buffer[] = [];

/**
 * Received bytes not yet taken. `take` returns all of them at once, and only an empty buffer is awaited: one promise per wait,
 * not per chunk. Pauses the source past the high-water mark.
 */
export class ReadBuffer {
  readonly #source: Source;
  #pieces: Buffer[] = none;
  #bytes = 0;
  #paused = false;
  #discarding = false;
  #error: Error | undefined;
  #arriving: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #onFirst: (() => void) | undefined;
  #waitingSince = 0;
  /** No more bytes will arrive, whether or not all have been taken. */
  ended = false;

  constructor(source: Source, onFirst: () => void) {
    this.#source = source;
    this.#onFirst = onFirst;
  }

  /** Since when a consumer has been waiting. The idle timeout runs only then: a slow consumer is not the server's fault. */
  get quietSince(): number | undefined {
    return this.#wake === undefined ? undefined : this.#waitingSince;
  }

  /** All received bytes, or undefined. Throws the stream's error after everything before it was taken. */
  take(): Buffer | undefined {
    const pieces = this.#pieces;
    const first = pieces[0];
    if (first === undefined) {
      if (this.#error !== undefined) throw this.#error;
      return undefined;
    }
    const read = pieces.length === 1 ? first : Buffer.concat(pieces, this.#bytes);
    this.#pieces = none;
    this.#bytes = 0;
    if (this.#paused) {
      this.#paused = false;
      this.#source.resume();
    }
    return read;
  }

  /** Resolves when there are bytes to take, or at the end. */
  arrival(): Promise<void> {
    if (this.ended || this.#bytes > 0) return Promise.resolve();
    if (this.#arriving === undefined) {
      this.#arriving = new Promise(this.#wait);
      this.#waitingSince = performance.now();
    }
    return this.#arriving;
  }

  /** Drains and drops the rest of the body, so that the connection can be reused. */
  discard(): void {
    this.#discarding = true;
    this.#pieces = none;
    this.#bytes = 0;
    if (this.#paused) this.#source.resume();
  }

  push(piece: Buffer): void {
    if (this.#discarding || piece.length === 0) return;
    // A literal has room for one; a push to an empty array reserves seventeen, and nearly every wait ends with one piece.
    if (this.#bytes === 0) this.#pieces = [piece];
    else this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= highWaterMark && !this.#paused) {
      this.#paused = true;
      this.#source.pause();
    }
    if (this.#onFirst !== undefined) {
      this.#onFirst();
      this.#onFirst = undefined;
    }
    this.#arrived();
  }

  end(error?: Error): void {
    if (this.ended) return;
    this.ended = true;
    this.#error = error;
    this.#arrived();
  }

  #arrived(): void {
    const wake = this.#wake;
    this.#arriving = undefined;
    this.#wake = undefined;
    wake?.();
  }

  /** A field, so that a wait allocates no closure of its own. */
  readonly #wait = (resolve: () => void): void => {
    this.#wake = resolve;
  };
}
