import type { OnReadOpts, Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { Readable } from "node:stream";
import type { VenturiError } from "../../core/errors/errors.ts";
import type { Delta } from "../../core/model/deltas.ts";
import { PolledStream } from "../../core/ports/polled-stream.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import type { Pipeline } from "../decode.ts";

/** A streaming response, or one that arrived as a whole. */
export type Answer = Streaming | { readonly whole: Delta[] };

interface Streaming {
  readonly reads: ReadBuffer;
  readonly pipeline: Pipeline;
  /** Explains an answer that could not be decoded at all, from its first bytes (an HTML page, for example). */
  explain(error: VenturiError, head: Uint8Array): VenturiError;
}

/** The request that the answer belongs to. */
interface Asked {
  readonly stopped: VenturiError | undefined;
  answered(): void;
}

export interface DeltaSource<Exchange extends Asked> {
  /** Called on the first read of the stream. */
  exchange(): Exchange;
  open(exchange: Exchange): Promise<Answer>;
  /** Inspects the deltas that ended the stream; returns whether it ended successfully. */
  ended(deltas: Delta[]): boolean;
  failure(exchange: Exchange, thrown: unknown): VenturiError;
  close(exchange: Exchange, outcome: "complete" | "abandoned"): void;
}

type Step = IteratorResult<Delta[], undefined>;

const headSize = 512;

const done: Step = { done: true, value: undefined };

/** One generation's deltas, one batch per network read. */
export class DeltaStream<Exchange extends Asked> extends PolledStream<Delta[]> {
  readonly #source: DeltaSource<Exchange>;
  #exchange: Exchange | undefined;
  #opening: Promise<void> | undefined;
  #answer: Answer | undefined;
  #failure: { readonly error: unknown } | undefined;
  #over = false;
  /** The first bytes of the answer, kept until a delta was decoded. */
  #head: Uint8Array | undefined = new Uint8Array();

  constructor(source: DeltaSource<Exchange>) {
    super();
    this.#source = source;
    keepOne(this);
  }

  poll(): Step | undefined {
    if (this.#failure !== undefined) return this.#reject(this.#failure.error);
    if (this.#over) return done;
    const answer = this.#answer;
    if (answer === undefined) return undefined;
    try {
      if ("reads" in answer) return this.#decode(answer);
      this.#end("complete");
      return { done: false, value: answer.whole };
    } catch (thrown) {
      throw this.#failed(thrown);
    }
  }

  arrival(): Promise<void> {
    const answer = this.#answer;
    if (answer !== undefined && "reads" in answer && !this.#over) return answer.reads.arrival();
    this.#opening ??= this.#open();
    return this.#opening;
  }

  return(): Promise<Step> {
    this.#end("abandoned");
    return Promise.resolve(done);
  }

  async #open(): Promise<void> {
    this.#exchange = this.#source.exchange();
    try {
      this.#answer = await this.#source.open(this.#exchange);
    } catch (thrown) {
      if (!this.#over) this.#failure = { error: this.#failed(thrown) };
    }
  }

  /** Throws the error once; afterwards the stream has ended. */
  #reject(error: unknown): never {
    this.#failure = undefined;
    throw error;
  }

  #decode(answer: Streaming): Step | undefined {
    const { reads, pipeline } = answer;
    for (;;) {
      if (this.#exchange?.stopped !== undefined) throw this.#exchange.stopped;
      const read = reads.take();
      if (read === undefined && !reads.ended) return undefined;
      const deltas: Delta[] = [];
      if (read === undefined) pipeline.end(deltas);
      else pipeline.push(read, deltas);
      if (this.#head !== undefined) this.#begin(this.#head, read, { answer, deltas });
      // The format has ended, so the connection can be reused, whatever the consumer does with these deltas.
      if (pipeline.finished) this.#end(this.#source.ended(deltas) ? "complete" : "abandoned");
      if (deltas.length > 0) return { done: false, value: deltas };
      if (pipeline.finished) return done;
    }
  }

  /** Before the first delta: keeps the bytes received, and reports when the answer begins or why it is not one. */
  #begin(
    head: Uint8Array,
    read: Uint8Array | undefined,
    { answer, deltas }: { answer: Streaming; deltas: Delta[] },
  ): void {
    if (read !== undefined && head.length < headSize) this.#head = Buffer.concat([head, read.subarray(0, headSize)]);
    const [first] = deltas;
    if (first === undefined) return;
    if (first.type === "error") deltas[0] = { type: "error", error: answer.explain(first.error, this.#head ?? head) };
    else this.#exchange?.answered();
    this.#head = undefined;
  }

  #failed(thrown: unknown): unknown {
    const error = this.#exchange === undefined ? thrown : this.#source.failure(this.#exchange, thrown);
    this.#end("abandoned");
    return error;
  }

  #end(outcome: "complete" | "abandoned"): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#exchange !== undefined) this.#source.close(this.#exchange, outcome);
  }
}

export interface Source {
  pause(): void;
  resume(): void;
}

const highWaterMark = 64 * 1024;
/** Shared empty array; never pushed to. */
const none: Buffer[] = [];
/** Where the pieces of any read are joined: a server's chunks often come many at once, and a buffer for each read is slow. */
const joint = Buffer.allocUnsafeSlow(2 * highWaterMark);

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

  /** All received bytes, valid until the next take, or undefined. Throws the stream's error after everything before it was taken. */
  take(): Buffer | undefined {
    const pieces = this.#pieces;
    const first = pieces[0];
    if (first === undefined) {
      if (this.#error !== undefined) throw this.#error;
      return undefined;
    }
    const read = pieces.length === 1 ? first : joined(pieces, this.#bytes);
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
      this.#arriving = Promise.withResolvers<void>();
      this.#waitingSince = performance.now();
    }
    return this.#arriving.promise;
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
    this.#arriving?.resolve();
    this.#arriving = undefined;
  }
}

function joined(pieces: readonly Buffer[], bytes: number): Buffer {
  if (bytes > joint.length) return Buffer.concat(pieces, bytes);
  let at = 0;
  for (const piece of pieces) {
    joint.set(piece, at);
    at += piece.length;
  }
  return joint.subarray(0, at);
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
