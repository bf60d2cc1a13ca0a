import { isAscii } from "node:buffer";
import { performance } from "node:perf_hooks";
import type { Delta } from "../core/deltas.ts";
import { VenturiError, wrap } from "../core/errors.ts";
import { keepOne } from "../core/keep-one.ts";
import type { Decoder, Frame, Wire } from "../core/plugin.ts";
import type { ChunkKind, StreamObserver } from "../core/provider.ts";
import { excessOfJson, frameLimits } from "../core/value-limits.ts";
import { type Frames, framesOf } from "./frames/frames.ts";

/**
 * Bytes in, deltas out: framing and decoding of one generation, measured when somebody looks. Failures come out as an
 * `error` delta, after everything that was decoded before them.
 */
export class Pipeline {
  readonly #op: string;
  readonly #frames: Frames;
  readonly #decoder: Decoder;
  readonly #observer: StreamObserver | undefined;
  readonly #batch: Frame[] = [];
  readonly #toldQuirks = new Map<string, number>();
  #chunk = 0;
  /** When the chunk before ended: one look at the clock a chunk, and no time between them that belongs to none. */
  #time = 0;
  /** All bytes since the last frame are ASCII, so that a frame is as many bytes as characters: counting them is slow. */
  #ascii = true;
  #finished = false;

  constructor(op: string, wire: Wire, settings: { maxEvent?: number; observer?: StreamObserver | undefined } = {}) {
    this.#op = op;
    this.#frames = framesOf(wire.framing, settings.maxEvent);
    this.#decoder = wire.decoder();
    this.#observer = settings.observer;
    keepOne(this);
  }

  /** A `done` or an `error` came out: nothing else will. */
  get finished(): boolean {
    return this.#finished;
  }

  get quirks(): ReadonlyMap<string, number> {
    return this.#decoder.quirks;
  }

  push(read: Uint8Array, out: Delta[]): void {
    if (this.#finished) return;
    if (this.#observer === undefined) {
      this.#step(out, () => this.#frames.push(read, this.#batch));
      return;
    }
    this.#observer.bytes?.(read);
    const ascii = isAscii(read);
    const chunks = this.#chunk;
    this.#ascii &&= ascii;
    this.#step(out, () => this.#frames.push(read, this.#batch));
    if (this.#chunk > chunks) this.#ascii = ascii;
  }

  /** The bytes have ended. */
  end(out: Delta[]): void {
    if (this.#finished) return;
    this.#step(out, () => this.#frames.end(this.#batch));
    if (this.#finished) return;
    const from = out.length;
    try {
      this.#decoder.end(out);
    } catch (thrown) {
      out.push({ type: "error", error: wrap(this.#op, thrown, "stream_error") });
    }
    this.#note(out, from);
    this.#tellQuirks();
  }

  #step(out: Delta[], cut: () => void): void {
    try {
      try {
        cut();
      } finally {
        // An event past the limit must not take the ones before it along.
        this.#decode(out);
      }
    } catch (thrown) {
      if (!this.#finished) out.push({ type: "error", error: wrap(this.#op, thrown, "stream_error") });
      this.#finished = true;
    }
    this.#tellQuirks();
  }

  #decode(out: Delta[]): void {
    const batch = this.#batch;
    if (this.#observer !== undefined) this.#time = performance.now();
    for (let i = 0; i < batch.length && !this.#finished; i++) {
      const frame = batch[i] as Frame; // below the length
      const from = out.length;
      if (frame.data.length > unsuspicious) mustFit(frame.data);
      if (this.#observer === undefined) this.#decoder.push(frame, out);
      else this.#measured(frame, out, this.#observer);
      this.#note(out, from);
    }
    batch.length = 0;
  }

  #measured(frame: Frame, out: Delta[], observer: StreamObserver): void {
    const from = out.length;
    const start = this.#time;
    this.#decoder.push(frame, out);
    const end = performance.now();
    this.#time = end;
    const kind = kindOf(out, from);
    for (let i = from; i < out.length; i++) {
      const delta = out[i];
      // The decoder has just made it and nobody else has seen it yet.
      if (delta?.type === "tool_call") (delta as { chunk?: number }).chunk = this.#chunk;
    }
    this.#chunk++;
    observer.chunk(kind, this.#ascii ? frame.data.length : Buffer.byteLength(frame.data), start, end);
  }

  #note(out: readonly Delta[], from: number): void {
    for (let i = from; i < out.length; i++) {
      const type = out[i]?.type;
      if (type === "done" || type === "error") this.#finished = true;
    }
  }

  #tellQuirks(): void {
    if (this.#observer === undefined) return;
    for (const [name, count] of this.#decoder.quirks) {
      for (let told = this.#toldQuirks.get(name) ?? 0; told < count; told++) this.#observer.quirk(name);
      this.#toldQuirks.set(name, count);
    }
  }
}

/** A frame this short cannot be nested so deep that a decoder would overflow the stack: tokens are not looked at twice. */
const unsuspicious = 2_048;

function mustFit(json: string): void {
  const excess = excessOfJson(json, frameLimits);
  if (excess === undefined) return;
  throw new VenturiError("stream.frame", "too_large", `one event of the provider's stream ${excess}`);
}

/** What a chunk was mostly about: the first delta that carries something. */
function kindOf(out: readonly Delta[], from: number): ChunkKind {
  let kind: ChunkKind = "other";
  for (let i = from; i < out.length; i++) {
    const type = out[i]?.type;
    if (type === "refusal") return "text";
    if (type === "text" || type === "reasoning" || type === "tool_call" || type === "error") return type;
    if (type === "done") kind = "done";
    else if (type === "usage" && kind === "other") kind = "usage";
  }
  return kind;
}
