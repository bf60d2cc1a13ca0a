import type { OnReadOpts, Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { Readable } from "node:stream";

export interface Source {
  pause(): void;
  resume(): void;
}

const highWaterMark = 64 * 1024;
/** Shared empty array; never pushed to. */
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
    // A literal reserves one slot, a push to an empty array seventeen; nearly every wait ends with one piece.
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

  /** A field, so that waiting allocates no closure. */
  readonly #wait = (resolve: () => void): void => {
    this.#wake = resolve;
  };
}

/** Every socket reads into this buffer; the data is copied out before the next read. */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** A socket and its latest read, until the parser takes it. */
interface DirectSocket extends Socket {
  justRead: Buffer | undefined;
}

/**
 * Hands each read to undici's parser at once. Otherwise Node allocates 64 kB for a read, puts the bytes into the socket's
 * stream, and lets the parser take them out in the next tick, for every token of every stream. While the parser is paused, bytes
 * go into the stream as usual, which stops reading when it is full.
 */
export const directReads: OnReadOpts = {
  buffer: shared,
  callback(this: Socket, bytes: number): boolean {
    const socket = this as DirectSocket; // The remaining fields are set here, at the first read.
    if (socket.read !== readDirectly) Object.assign(socket, { read: readDirectly, justRead: undefined });
    const read = Buffer.from(shared.subarray(0, bytes));
    if (socket.readableLength > 0) return socket.push(read);
    socket.justRead = read;
    socket.emit("readable");
    if (socket.justRead === undefined) return true;
    socket.justRead = undefined;
    return socket.push(read);
  },
};

function readDirectly(this: DirectSocket, size?: number): unknown {
  const read = this.justRead;
  if (read === undefined) return Readable.prototype.read.call(this, size);
  this.justRead = undefined;
  return read;
}
