import type { AudioFormat, Utterance } from "venturi/plugin";

/** Maximum header size before the samples. */
const longest = 4_096;
/** Bytes per frame: 93 ms at 22,050 Hz, the granularity of a barge-in. */
const frameBytes = 4_096;

/** Reads a WAV stream: parses its header, then yields samples as they arrive. */
export async function fromWav(stream: AsyncIterable<Uint8Array>): Promise<Utterance> {
  const chunks = stream[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  for (;;) {
    const found = headerIn(head);
    if (found !== undefined) return { format: found.format, frames: frames(head.subarray(found.samples), chunks) };
    if (head.length > longest) throw new Error("the engine's audio is not PCM in WAV");
    const { value, done } = await chunks.next();
    if (done) throw new Error("the engine ended before its audio began");
    head = Buffer.concat([head, value]);
  }
}

/** Samples without a header. */
export const fromPcm = (stream: AsyncIterable<Uint8Array>, format: AudioFormat): Utterance => ({
  format,
  frames: frames(Buffer.alloc(0), stream[Symbol.asyncIterator]()),
});

/** Offset of the samples. A stream's header has no valid sizes, so they are ignored. */
function headerIn(bytes: Buffer): { format: AudioFormat; samples: number } | undefined {
  if (bytes.length < 12) return undefined;
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WAVE") {
    throw new Error("the engine's audio is not WAV");
  }
  let format: AudioFormat | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString("latin1", at, at + 4);
    if (name === "data") {
      if (format === undefined) throw new Error("the engine's WAV has no format header");
      return { format, samples: at + 8 };
    }
    const size = bytes.readUInt32LE(at + 4);
    if (name === "fmt ") {
      if (bytes.length < at + 8 + 16) return undefined;
      format = formatIn(bytes.subarray(at + 8));
    }
    at += 8 + size + (size % 2);
  }
  return undefined;
}

function formatIn(chunk: Buffer): AudioFormat {
  const bits = chunk.readUInt16LE(14);
  if (bits !== 16) throw new Error(`the engine's samples have ${bits} bits; 16 are needed`);
  return { encoding: "pcm_s16le", channels: chunk.readUInt16LE(2), sampleRate: chunk.readUInt32LE(4) };
}

/** Re-chunks to whole samples and frames short enough for barge-in; the network splits anywhere. */
async function* frames(first: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held = first;
  try {
    for (;;) {
      while (held.length >= frameBytes) {
        yield held.subarray(0, frameBytes);
        held = held.subarray(frameBytes);
      }
      const { value, done } = await rest.next();
      if (done) break;
      held = held.length === 0 ? Buffer.from(value) : Buffer.concat([held, value]);
    }
    const whole = held.length - (held.length % 2);
    if (whole > 0) yield held.subarray(0, whole);
  } finally {
    await rest.return?.();
  }
}
