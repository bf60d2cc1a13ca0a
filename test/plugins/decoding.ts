import { readFileSync } from "node:fs";
import { assert } from "chai";
import fc from "fast-check";
import {
  type Delta,
  type Frame,
  framesOf,
  type OpenCall,
  Transcript,
  VenturiError,
  type Wire,
} from "../../src/internal.ts";
import { lend } from "../provider/decoding.ts";

/** Wire bytes kept beside the plugin that reads them. */
export const fixture = (plugin: string, name: string): Buffer =>
  readFileSync(new URL(`../../../plugins/${plugin}/fixtures/${name}`, import.meta.url));

export interface Decoded {
  readonly deltas: readonly Delta[];
  readonly transcript: Transcript;
  readonly quirks: Readonly<Record<string, number>>;
}

/** What a body that arrived in these pieces says. */
export function decode(wire: Wire, ...pieces: readonly (Uint8Array | string)[]): Decoded {
  const frames = framesOf(wire.framing);
  const decoder = wire.decoder();
  const batch: Frame[] = [];
  const deltas: Delta[] = [];
  const drain = () => {
    for (const frame of batch) decoder.push(frame, deltas);
    batch.length = 0;
  };
  try {
    for (const piece of pieces) {
      try {
        lend(piece, (lent) => frames.push(lent, batch));
      } finally {
        drain();
      }
    }
    frames.end(batch);
    drain();
    decoder.end(deltas);
  } catch (thrown) {
    if (!VenturiError.isInstance(thrown)) throw thrown;
    // As the pipeline does: framing that cannot go on is the end of the stream.
    if (!deltas.some(({ type }) => type === "done" || type === "error")) deltas.push({ type: "error", error: thrown });
  }
  const transcript = new Transcript();
  transcript.push(deltas);
  return { deltas, transcript, quirks: Object.fromEntries(decoder.quirks) };
}

export const of = <T extends Delta["type"]>(decoded: Decoded, type: T): Extract<Delta, { type: T }>[] =>
  decoded.deltas.filter((delta): delta is Extract<Delta, { type: T }> => delta.type === type);

export const callsOf = (decoded: Decoded): unknown[] =>
  decoded.transcript.calls.map((call) => {
    const result = call.result();
    return result.ok ? [call.name, result.arguments] : [call.name, result.error.code];
  });

/** Whole, byte by byte and in random pieces: the same deltas. */
export function anyCutAgrees(wire: Wire, body: Buffer): void {
  const expected = JSON.stringify(decode(wire, body).deltas);
  assert.equal(JSON.stringify(decode(wire, ...[...body].map((byte) => Uint8Array.of(byte))).deltas), expected);
  const cuts = fc.array(fc.nat({ max: body.length }), { maxLength: 12 });
  fc.assert(
    fc.property(cuts, (points) => {
      const sorted = [0, ...points.sort((left, right) => left - right), body.length];
      const pieces = sorted.slice(1).map((end, at) => body.subarray(sorted[at], end));
      assert.equal(JSON.stringify(decode(wire, ...pieces).deltas), expected);
    }),
    { numRuns: 60 },
  );
}

/** Cut before `end`, at every byte: one error, no good end, and no call can run that was not complete before. */
export function everyCutFails(wire: Wire, body: Buffer, end: number): void {
  const whole = new Map(callsThatCanRun(decode(wire, body)).map((call) => [call.index, call.text]));
  for (let cut = 0; cut < end; cut++) {
    const decoded = decode(wire, body.subarray(0, cut));
    assert.equal(of(decoded, "error").length, 1, `cut at ${cut}`);
    assert.equal(of(decoded, "done").length, 0, `cut at ${cut}`);
    for (const call of callsThatCanRun(decoded)) assert.equal(call.text, whole.get(call.index), `cut at ${cut}`);
  }
}

const callsThatCanRun = (decoded: Decoded): OpenCall[] =>
  decoded.transcript.calls.filter((call) => call.sealed && call.result().ok);
