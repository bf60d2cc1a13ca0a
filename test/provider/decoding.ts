import type { Delta } from "../../src/core/model/deltas.ts";
import type { Wire } from "../../src/core/ports/plugin.ts";
import { Pipeline } from "../../src/provider/decode.ts";
import { Transcript } from "../../src/provider/transcript.ts";

export interface Decoded {
  readonly deltas: Delta[];
  readonly transcript: Transcript;
  readonly quirks: Record<string, number>;
}

/** A read as a socket lends it: its memory holds something else once `push` has returned. */
export function lend(bytes: Uint8Array | string, push: (read: Buffer) => void): void {
  const read = Buffer.from(bytes as string); // Copies either; the overloads take no union.
  try {
    push(read);
  } finally {
    read.fill("}");
  }
}

/** Runs a body through framing and decoding, cut as given. */
export function decode(wire: Wire, body: string | readonly Uint8Array[]): Decoded {
  const pipeline = new Pipeline("provider.stream", wire);
  const deltas: Delta[] = [];
  for (const read of typeof body === "string" ? [body] : body) lend(read, (lent) => pipeline.push(lent, deltas));
  pipeline.end(deltas);
  const transcript = new Transcript();
  transcript.push(deltas);
  return { deltas, transcript, quirks: Object.fromEntries(pipeline.quirks) };
}

/** The calls as name and arguments; one whose arguments are no object as its raw text. */
export const callsOf = ({ transcript }: Decoded): unknown[] =>
  transcript.calls.map((call) => {
    const result = call.result();
    return [call.name, result.ok ? result.arguments : result.raw];
  });

export const bytesOf = (body: string): Uint8Array[] => [...Buffer.from(body)].map((byte) => Uint8Array.of(byte));

export function pieces(body: Buffer, sizes: readonly number[]): Uint8Array[] {
  const out: Uint8Array[] = [];
  for (let at = 0, i = 0; at < body.length; i++) {
    const size = Math.max(1, sizes[i % sizes.length] ?? 1);
    out.push(body.subarray(at, at + size));
    at += size;
  }
  return out;
}

/** Deltas in a form that two decodings can be compared by. */
export const comparable = (deltas: readonly Delta[]): unknown[] =>
  deltas.map((delta) => (delta.type === "error" ? { type: "error", error: delta.error.toJSON() } : delta));
