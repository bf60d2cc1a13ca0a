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
 * Where all streams keep what was read until it is decoded, which nearly always is within the same turn. A buffer for each read would be
 * 75 kB of memory outside the heap for a short run, and 8 MB of that make V8 mark the whole heap.
 */
const room = Buffer.allocUnsafeSlow(2 * highWaterMark);
let used = 0;
/** Those that have bytes in the room are among these. Not a Set: adding and deleting one entry makes it a new table every fourth time. */
const waiting: ReadBuffer[] = [];
let inRoom = 0;

/**
 * Received bytes not yet taken. `take` returns all of them at once, and only an empty buffer is awaited: one promise per wait,
 * not per chunk. Pauses the source past the high-water mark.
 */
export class ReadBuffer {
  readonly #source: Source;
  /** What had to make room. */
  #aside: Buffer[] = none;
  /** The part of the room with what came after it. */
  #from = 0;
  #to = 0;
  #bytes = 0;
  #paused = false;
  #discarding = false;
  #error: Error | undefined;
  #arriving: PromiseWithResolvers<void> | undefined;
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
    return this.#arriving === undefined ? undefined : this.#waitingSince;
  }

  /**
   * All received bytes, or undefined. They have to be used at once: the next read of any stream overwrites them. Throws the stream's
   * error after everything before it was taken.
   */
  take(): Buffer | undefined {
    if (this.#bytes === 0) {
      if (this.#error !== undefined) throw this.#error;
      return undefined;
    }
    let read = room.subarray(this.#from, this.#to);
    if (this.#aside !== none) read = Buffer.concat([...this.#aside, read], this.#bytes);
    else if (this.#paused) read = Buffer.from(read); // The source may bring more when it is resumed.
    this.drop();
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
      this.#arriving = Promise.withResolvers<void>();
      this.#waitingSince = performance.now();
    }
    return this.#arriving.promise;
  }

  /** Forgets what was not taken. */
  drop(): void {
    this.#aside = none;
    this.#bytes = 0;
    this.#free();
  }

  /** Drains and drops the rest of the body, so that the connection can be reused. */
  discard(): void {
    this.#discarding = true;
    this.drop();
    if (this.#paused) this.#source.resume();
  }

  /** Keeps a copy of the piece. */
  push(piece: Buffer): void {
    if (this.#discarding || piece.length === 0) return;
    this.#keep(piece);
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

  #keep(piece: Buffer): void {
    const isFull = used + piece.length > room.length;
    if (isFull) for (const one of [...waiting]) one.#leave();
    else if (this.#to !== used) this.#leave(); // Another stream's bytes came in between.
    if (piece.length > room.length) return this.#putAside(piece);
    if (this.#from === this.#to) {
      this.#from = used;
      waiting.push(this);
      inRoom++;
    }
    room.set(piece, used);
    used += piece.length;
    this.#to = used;
  }

  /** The consumer is slow: what waits makes room for others. */
  #leave(): void {
    if (this.#from === this.#to) return;
    this.#putAside(room.subarray(this.#from, this.#to));
    this.#free();
  }

  #putAside(piece: Buffer): void {
    if (this.#aside === none) this.#aside = [Buffer.from(piece)];
    else this.#aside.push(Buffer.from(piece));
  }

  #free(): void {
    if (this.#from === this.#to) return;
    this.#from = 0;
    this.#to = 0;
    inRoom--;
    if (waiting.at(-1) === this) waiting.pop();
    if (inRoom > 0) return;
    used = 0;
    if (waiting.length > 0) waiting.length = 0;
  }

  #arrived(): void {
    this.#arriving?.resolve();
    this.#arriving = undefined;
  }
}

/** Every socket reads into this buffer, and the parser gets views of it. */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** The socket whose read is being handed over, and the read until the parser takes it: see frames/lines.ts for why they are no fields. */
let reading: Socket | undefined;
let justRead: Buffer | undefined;

interface DirectSocket extends Socket {
  parserKey: symbol | undefined;
  [key: symbol]: unknown;
}

/** What undici's parser keeps of a read: the header lines of an answer whose headers are not complete. */
interface Parser {
  headers: Buffer[];
}

/**
 * Hands each read to undici's parser at once, without a copy: what its handlers get of a body is valid until they return. Otherwise Node
 * allocates 64 kB for a read, puts the bytes into the socket's stream, and lets the parser take them out in the next tick, for every token
 * of every stream. While the parser is paused, bytes go into the stream as usual, which stops reading when it is full.
 */
export const directReads: OnReadOpts = {
  buffer: shared,
  callback(this: Socket, bytes: number): boolean {
    const socket = this as DirectSocket; // The remaining fields are set here, at the first read.
    if (socket.read !== readDirectly) begin(socket);
    const read = shared.subarray(0, bytes);
    if (socket.readableLength > 0) return socket.push(Buffer.from(read));
    const { parserKey } = socket;
    reading = socket;
    justRead = parserKey === undefined ? Buffer.from(read) : read;
    socket.emit("readable");
    const rest = justRead;
    reading = undefined; // Or it would stay in memory after its end.
    justRead = undefined;
    const parser = parserKey === undefined ? null : (socket[parserKey] as Parser | null);
    if (parser !== null && parser.headers.length > 0) parser.headers = parser.headers.map((line) => Buffer.from(line));
    return rest === undefined || socket.push(Buffer.from(rest));
  },
};

function begin(socket: DirectSocket): void {
  const parserKey = Object.getOwnPropertySymbols(socket).find(
    (key) => key.description === "parser" && Array.isArray((socket[key] as Parser | null)?.headers),
  );
  Object.assign(socket, { read: readDirectly, unshift: unshiftCopy, parserKey });
}

function readDirectly(this: DirectSocket, size?: number): unknown {
  const read = justRead;
  if (read === undefined || reading !== this) return Readable.prototype.read.call(this, size);
  justRead = undefined;
  return read;
}

/** The parser returns what it did not parse before it was paused. */
function unshiftCopy(this: DirectSocket, rest: Buffer): void {
  Readable.prototype.unshift.call(this, rest.buffer === shared.buffer ? Buffer.from(rest) : rest);
}
