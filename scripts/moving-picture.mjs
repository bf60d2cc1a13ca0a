// Joins PNGs of one size into a moving one (APNG), which browsers play and others show the first picture of.
import { crc32 } from "node:zlib";

/** `frames`: PNG files as bytes, with how long each is shown, ms. */
export function movingPicture(frames) {
  const first = chunksOf(frames[0].png);
  const head = first.find(({ type }) => type === "IHDR");
  const parts = [signature, chunk("IHDR", head.data), chunk("acTL", numbers(frames.length, 0))];
  let sequence = 0;
  for (const [index, { png, ms }] of frames.entries()) {
    const chunks = chunksOf(png);
    const size = chunks.find(({ type }) => type === "IHDR").data;
    if (!size.equals(head.data)) throw new Error("the pictures differ in size or colours");
    const control = Buffer.concat([
      numbers(sequence++),
      size.subarray(0, 8),
      numbers(0, 0),
      Buffer.from([ms >> 8, ms & 255, 1000 >> 8, 1000 & 255, 0, 0]),
    ]);
    parts.push(chunk("fcTL", control));
    for (const { type, data } of chunks) {
      if (type !== "IDAT") continue;
      parts.push(index === 0 ? chunk("IDAT", data) : chunk("fdAT", Buffer.concat([numbers(sequence++), data])));
    }
  }
  return Buffer.concat([...parts, chunk("IEND", Buffer.alloc(0))]);
}

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

const numbers = (...values) => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
};

function chunksOf(png) {
  const chunks = [];
  for (let at = signature.length; at < png.length; ) {
    const size = png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + size) });
    at += size + 12;
  }
  return chunks;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  return Buffer.concat([numbers(data.length), body, numbers(crc32(body))]);
}
