import { isAscii } from "node:buffer";
import { performance } from "node:perf_hooks";
import { VenturiError, wrap } from "../core/errors/errors.ts";
import { type Delta, kindOfDelta, noKind } from "../core/model/deltas.ts";
import type { StreamObserver } from "../core/model/provider.ts";
import type { Decoder, Frame, Wire } from "../core/ports/plugin.ts";
import { keepOne } from "../core/values/keep-one.ts";
import { emptyMap, withEntry } from "../core/values/no-entries.ts";
import { excessOfJson, frameLimits } from "../core/values/value-limits.ts";
import type { Frames } from "./frames/frames.ts";
import { framesOf } from "./frames/framing.ts";
import { notUtf8, replacement } from "./frames/not-utf8.ts";

/** For the frames of a read, while nobody decodes one: see frames/lines.ts for why it is no field. */
let spare: Frame[] | undefined;

/**
 * Bytes in, deltas out: framing and decoding of one generation, measured only with an observer. Failures come out as an `error`
 * delta, after everything decoded before them.
 */
export class Pipeline {
  readonly #op: string;
  #frames: Frames;
  readonly #decoder: Decoder;
  readonly #observer: StreamObserver | undefined;
  #reportedQuirks = emptyMap<string, number>();
  #chunk = 0;
  /** End of the previous chunk: one clock read per chunk, and no unattributed time between chunks. */
  #time = 0;
  /** All bytes since the last frame are ASCII, so its length in characters is its length in bytes; counting bytes is slow. */
  #ascii = true;
  /** `done` or `error` has been emitted: nothing follows. */
  finished = false;

  constructor(op: string, wire: Wire, settings: { maxEvent?: number; observer?: StreamObserver | undefined } = {}) {
    this.#op = op;
    this.#frames = framesOf(wire.framing, settings.maxEvent);
    this.#decoder = wire.decoder();
    this.#observer = settings.observer;
    keepOne(this);
  }

  get quirks(): ReadonlyMap<string, number> {
    return this.#decoder.quirks;
  }

  push(read: Uint8Array, out: Delta[]): void {
    if (this.finished) return;
    if (this.#observer === undefined) return this.#step(out, read);
    this.#observer.bytes?.(read);
    const ascii = isAscii(read);
    const chunks = this.#chunk;
    this.#ascii &&= ascii;
    this.#step(out, read);
    if (this.#chunk > chunks) this.#ascii = ascii;
  }

  /** End of input. */
  end(out: Delta[]): void {
    if (this.finished) return;
    this.#step(out, undefined);
    if (this.finished) return;
    const from = out.length;
    try {
      this.#decoder.end(out);
    } catch (thrown) {
      out.push({ type: "error", error: wrap(this.#op, thrown, "stream_error") });
    }
    this.finished = out.slice(from).some(({ type }) => type === "done" || type === "error");
    if (this.#observer !== undefined) this.#reportQuirks(this.#observer);
  }

  /** Frames what was read, or the rest at the end of input, and decodes the frames. */
  #step(out: Delta[], read: Uint8Array | undefined): void {
    const batch = spare ?? [];
    spare = undefined;
    try {
      try {
        if (read === undefined) this.#frames.end(batch);
        else this.#frames.push(read, batch);
        if (this.#frames.successor !== undefined) this.#frames = this.#frames.successor;
      } finally {
        // An oversized event must not discard the ones before it.
        this.#decode(batch, out);
      }
    } catch (thrown) {
      if (!this.finished) out.push({ type: "error", error: wrap(this.#op, thrown, "stream_error") });
      this.finished = true;
    }
    // Setting the length to 0 would drop the backing store, and the next token would allocate one for seventeen.
    while (batch.pop() !== undefined);
    spare = batch;
    if (this.#observer !== undefined && this.#decoder.quirks.size > 0) this.#reportQuirks(this.#observer);
  }

  #decode(batch: readonly Frame[], out: Delta[]): void {
    const observer = this.#observer;
    if (observer !== undefined) this.#time = performance.now();
    for (let i = 0; i < batch.length && !this.finished; i++) {
      const frame = batch[i] as Frame; // `i` is below the length.
      const from = out.length;
      if (frame.data.length > unsuspicious) mustFit(frame.data);
      this.#decoder.push(frame, out);
      const start = this.#time;
      if (observer !== undefined) this.#time = performance.now();
      let main = noKind;
      for (let j = from; j < out.length; j++) {
        const delta = out[j] as Delta; // `j` is below the length.
        if (delta.type === "done" || delta.type === "error") this.finished = true;
        else if (delta.type === "tool_call") {
          if (this.#frames.replaced && frame.data.includes(replacement)) {
            out.length = from;
            throw notUtf8();
          }
          // Safe to mutate: the decoder just created it and nothing else has seen it.
          if (observer !== undefined) (delta as { chunk?: number }).chunk = this.#chunk;
        }
        const made = kindOfDelta[delta.type] ?? noKind;
        if (made.weight > main.weight) main = made;
      }
      if (observer === undefined) continue;
      this.#chunk++;
      const bytes = this.#ascii ? frame.data.length : Buffer.byteLength(frame.data);
      observer.chunk(main.kind, bytes, start, this.#time);
    }
  }

  #reportQuirks(observer: StreamObserver): void {
    for (const [name, count] of this.#decoder.quirks) {
      for (let reported = this.#reportedQuirks.get(name) ?? 0; reported < count; reported++) observer.quirk(name);
      this.#reportedQuirks = withEntry(this.#reportedQuirks, name, count);
    }
  }
}

/** A frame this short cannot nest deeply enough to overflow a decoder's stack, so most tokens skip the check. */
const unsuspicious = 2_048;

function mustFit(json: string): void {
  const excess = excessOfJson(json, frameLimits);
  if (excess === undefined) return;
  throw new VenturiError("stream.frame", "too_large", `one event of the provider's stream ${excess}`);
}
