import { VenturiError, wrap } from "../../core/errors/errors.ts";
import { excessOfJson, frameLimits } from "../../core/values/value-limits.ts";
import type { Opened } from "./exchange.ts";
import type { ReadBuffer } from "./reads.ts";
import { header } from "./response-error.ts";
import { explained } from "./strange-answer.ts";

/** How many bytes of a page are read to describe it. */
export const pageSize = 512;

export const noStream = new VenturiError("provider.stream", "stream_error", "the provider's answer is a page");

export const isPage = (opened: Opened): boolean => /^text\/html\b/i.test(header(opened.headers, "content-type") ?? "");

export const isJson = (opened: Opened): boolean =>
  /^application\/json\b/i.test(header(opened.headers, "content-type") ?? "");

export async function readWhole(reads: ReadBuffer, limit: number): Promise<Buffer> {
  const body = await readSome(reads, limit + 1);
  if (body.length > limit) {
    throw new VenturiError("stream.frame", "too_large", `the answer is larger than ${limit} bytes; raise maxEvent`);
  }
  return body;
}

/** The body, or its first `limit` bytes. */
export async function readSome(reads: ReadBuffer, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  while (length < limit) {
    const arrived = reads.take();
    if (arrived === undefined) {
      if (reads.ended) break;
      await reads.arrival();
      continue;
    }
    pieces.push(Buffer.from(arrived)); // What was taken is valid until the next take.
    length += arrived.length;
  }
  return Buffer.concat(pieces).subarray(0, limit);
}

/** As `parsed`; a body that is not JSON is described by its type and first bytes. */
export function parsedOf(opened: Opened, body: string): unknown {
  try {
    return parsed(body);
  } catch (thrown) {
    throw explained(wrap("provider.generate", thrown), opened, Buffer.from(body.slice(0, pageSize)));
  }
}

export function parsed(body: string): unknown {
  const excess = excessOfJson(body, frameLimits);
  if (excess !== undefined) throw new VenturiError("stream.frame", "too_large", `the provider's answer ${excess}`);
  try {
    return JSON.parse(body);
  } catch {
    throw new VenturiError("stream.frame", "stream_error", "the provider's answer is not valid JSON");
  }
}

export function jsonOrText(body: Buffer): unknown {
  const text = body.toString("utf8");
  if (excessOfJson(text, frameLimits) !== undefined) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
