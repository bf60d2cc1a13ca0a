import { createHash } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import { inSlices, turnFor } from "../../core/values/in-slices.ts";
import { sliced } from "../../core/values/json-bytes.ts";

/** Smaller values are converted in one turn: a fraction of a millisecond. */
const small = 256 * 1024;
/** A multiple of three bytes and of four characters of base64. */
const slice = 192 * 1024;

/** Converts large content without blocking the thread for long. */

export const bytesOfText = async (text: string): Promise<Buffer> =>
  text.length <= small ? Buffer.from(text) : await inSlices(encodeText(text));

function* encodeText(text: string): Generator<void, Buffer> {
  let size = 0;
  for (const slice of sliced(text)) {
    size += Buffer.byteLength(slice);
    yield;
  }
  const bytes = Buffer.allocUnsafeSlow(size); // Not zeroed: pages are only touched as they are written.
  let at = 0;
  for (const slice of sliced(text)) {
    at += bytes.write(slice, at);
    yield;
  }
  return bytes;
}

export const bytesOfBase64 = async (data: string): Promise<Buffer> =>
  data.length <= small ? Buffer.from(data, "base64") : await inSlices(decodeBase64(data));

function* decodeBase64(data: string): Generator<void, Buffer> {
  const bytes = Buffer.allocUnsafeSlow(Math.ceil((data.length * 3) / 4));
  let at = 0;
  for (let from = 0; from < data.length; from += slice) {
    const written = bytes.write(data.slice(from, from + slice), at, "base64");
    // The base64 contains line breaks, so slices do not align; decode it whole.
    if (from + slice < data.length && written < (slice * 3) / 4) return Buffer.from(data, "base64");
    at += written;
    yield;
  }
  return bytes.subarray(0, at);
}

export const hashOf = async (bytes: Uint8Array): Promise<string> =>
  bytes.length <= small ? createHash("sha256").update(bytes).digest("hex") : await inSlices(digest(bytes));

function* digest(bytes: Uint8Array): Generator<void, string> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += slice) {
    hash.update(bytes.subarray(at, at + slice));
    yield;
  }
  return hash.digest("hex");
}

export async function textOfPieces(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new StringDecoder("utf8");
  let text = "";
  for await (const piece of pieces) text += decoder.write(bufferOf(piece));
  return text + decoder.end();
}

export async function base64OfPieces(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new StringDecoder("base64"); // Carries incomplete three-byte groups over to the next piece.
  let text = "";
  for await (const piece of pieces) text += decoder.write(bufferOf(piece));
  return text + decoder.end();
}

export async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += slice) {
    if (at > 0) await turnFor(0);
    yield bytes.subarray(at, at + slice);
  }
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
