import { VenturiError } from "../../core/errors/errors.ts";
import type { Delta } from "../../core/model/deltas.ts";
import type { DecodedWire } from "../../core/ports/inspect.ts";
import type { Wire } from "../../core/ports/plugin.ts";
import type { KeptWire } from "../../core/run/kept-wire.ts";
import { Pipeline } from "../../provider/decode.ts";
import { quirkNotes } from "../../provider/quirk-notes.ts";
import type { PluginLoader } from "../plugins/plugin-loader.ts";

/** Bytes of a stream that are shown; a download contains all. */
const mostBytes = 1024 * 1024;

/** Finds a wire format by name among all plugins. */
export async function wireNamed(op: string, loader: PluginLoader, name: string): Promise<Wire> {
  const known: string[] = [];
  for (const box of loader.names()) {
    const { wires } = (await loader.get(box)).plugin;
    const wire = wires !== undefined && Object.hasOwn(wires, name) ? wires[name] : undefined;
    if (wire !== undefined) return wire;
    known.push(...Object.keys(wires ?? {}));
  }
  throw new VenturiError(op, "invalid_input", `no plugin speaks the wire "${name}"; there are ${known.join(", ")}`);
}

/** A kept stream, frame by frame, beside the deltas that each frame was decoded to. */
export function decodeWire(wire: Wire, kept: KeptWire): DecodedWire {
  const pipeline = new Pipeline("provider.stream", wire);
  const shown = Buffer.from(kept.bytes.subarray(0, mostBytes));
  const chunks: DecodedWire["chunks"] = [];
  for (const { offset, bytes } of framesIn(shown, wire)) {
    const deltas: Delta[] = [];
    pipeline.push(bytes, deltas);
    chunks.push({ offset, text: bytes.toString("utf8"), deltas: deltas.map(plainDelta) });
  }
  const cut = kept.bytes.length > mostBytes;
  if (!cut) {
    const deltas: Delta[] = [];
    pipeline.end(deltas);
    chunks.at(-1)?.deltas.push(...deltas.map(plainDelta));
  }
  const notes = Object.fromEntries([...pipeline.quirks.keys()].map((name) => [name, quirkNotes[name] ?? ""]));
  const quirks = Object.fromEntries(pipeline.quirks);
  return { wire: kept.wire, size: kept.bytes.length, chunks, quirks, notes, cut };
}

/** Errors shown outside have no stack and no cause. */
const plainDelta = (delta: Delta): unknown => ("error" in delta ? { ...delta, error: delta.error.toJSON() } : delta);

function framesIn(bytes: Buffer, { framing }: Wire): Generator<{ offset: number; bytes: Buffer }> {
  return framing === "aws-event-stream" ? messages(bytes) : pieces(bytes, framing === "sse" ? "\n\n" : "\n");
}

/** Splits by the length prefix; 16 bytes is the shortest message. */
function* messages(bytes: Buffer): Generator<{ offset: number; bytes: Buffer }> {
  for (let offset = 0; offset < bytes.length; ) {
    const length = offset + 4 > bytes.length ? bytes.length : Math.max(16, bytes.readUInt32BE(offset));
    yield { offset, bytes: bytes.subarray(offset, offset + length) };
    offset += length;
  }
}

function* pieces(bytes: Buffer, end: string): Generator<{ offset: number; bytes: Buffer }> {
  // If the stream uses CRLF, frames end at its empty line instead.
  const ends = end === "\n\n" && bytes.includes("\r\n\r\n") ? "\r\n\r\n" : end;
  for (let offset = 0; offset < bytes.length; ) {
    const at = bytes.indexOf(ends, offset);
    const next = at < 0 ? bytes.length : at + ends.length;
    yield { offset, bytes: bytes.subarray(offset, next) };
    offset = next;
  }
}
