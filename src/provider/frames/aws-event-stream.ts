import { crc32 } from "node:zlib";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Frame } from "../../core/ports/plugin.ts";
import type { Frames } from "./frames.ts";
import { tooLarge } from "./held-bytes.ts";
import { isReplaced } from "./not-utf8.ts";

/** Total length, length of the headers, and the CRC of those eight bytes. */
const prelude = 12;
const checksum = 4;
/** AWS's own limit for the headers of one message. */
const mostHeaders = 128 * 1024;

/**
 * AWS's binary event stream (application/vnd.amazon.eventstream): messages of a checksummed prelude, typed headers, a payload and a CRC. A
 * frame's `event` is the `:event-type`, or `exception:` and the exception's type. The prelude is checked before the rest is awaited, so a
 * corrupt length cannot stall the stream.
 */
export class AwsEventStreamFrames implements Frames {
  readonly #limit: number;
  replaced = false;
  #held = Buffer.alloc(0);
  #length = 0;
  /** Bytes until the next decision: a prelude, or a whole message. */
  #needed = prelude;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(read: Uint8Array, out: Frame[]): void {
    let at = 0;
    while (at < read.length) {
      const end = Math.min(read.length, at + this.#needed - this.#length);
      this.#add(read.subarray(at, end));
      at = end;
      if (this.#length < this.#needed) return;
      if (this.#needed === prelude) {
        this.#needed = this.#lengthOf(this.#held);
        continue;
      }
      const message = this.#held.subarray(0, this.#length);
      const frame = frameOf(message);
      this.replaced ||= isReplaced(frame.data, payloadOf(message));
      out.push(frame);
      this.#reset();
    }
  }

  /** Drops a truncated message; the decoder reports the missing terminator. */
  end(): void {
    this.#reset();
  }

  #add(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#held.length) {
      const room = Buffer.allocUnsafeSlow(Math.max(1024, length, Math.min(this.#needed, this.#held.length * 2)));
      this.#held.copy(room, 0, 0, this.#length);
      this.#held = room;
    }
    this.#held.set(bytes, this.#length);
    this.#length = length;
  }

  #lengthOf(bytes: Buffer): number {
    if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw damaged("the length of a message");
    const total = bytes.readUInt32BE(0);
    const headers = bytes.readUInt32BE(4);
    if (total > this.#limit) throw tooLarge(this.#limit);
    if (headers > mostHeaders || total < prelude + headers + checksum) throw damaged("the length of a message");
    return total;
  }

  #reset(): void {
    this.#length = 0;
    this.#needed = prelude;
    // One huge message must not pin its buffer for the rest of the stream.
    if (this.#held.length > 1 << 20) this.#held = Buffer.alloc(0);
  }
}

const payloadOf = (message: Buffer): Buffer =>
  message.subarray(prelude + message.readUInt32BE(4), message.length - checksum);

function frameOf(message: Buffer): Frame {
  const body = message.length - checksum;
  if (crc32(message.subarray(0, body)) !== message.readUInt32BE(body)) throw damaged("a message");
  const payload = payloadOf(message);
  const { type, event, exception, code, said } = namesIn(message.subarray(prelude, body - payload.length));
  const data = payload.toString("utf8");
  if (type === "exception") return { event: `exception:${exception}`, data };
  // A transport error has no payload.
  if (type === "error") return { event: `exception:${code}`, data: JSON.stringify({ message: said }) };
  return { event, data };
}

const wanted: ReadonlyMap<string, keyof Names> = new Map([
  [":message-type", "type"],
  [":event-type", "event"],
  [":exception-type", "exception"],
  [":error-code", "code"],
  [":error-message", "said"],
]);

interface Names {
  type: string;
  event: string;
  exception: string;
  code: string;
  said: string;
}

/** Value sizes in bytes by type: true, false, byte, short, integer, long, bytes, string, time, UUID; -1: length-prefixed. */
const sizes = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16];
const text = 7;

function namesIn(headers: Buffer): Names {
  const names: Names = { type: "event", event: "", exception: "", code: "", said: "" };
  for (let at = 0; at < headers.length; ) {
    const nameEnd = at + 1 + (headers[at] ?? 0);
    const type = headers[nameEnd];
    const size = type === undefined ? undefined : sizes[type];
    if (size === undefined || (size < 0 && nameEnd + 3 > headers.length)) throw damaged("a header");
    const from = nameEnd + (size < 0 ? 3 : 1);
    const end = from + (size < 0 ? headers.readUInt16BE(nameEnd + 1) : size);
    if (end > headers.length) throw damaged("a header");
    const key = type === text ? wanted.get(headers.toString("utf8", at + 1, nameEnd)) : undefined;
    if (key !== undefined) names[key] = headers.toString("utf8", from, end);
    at = end;
  }
  return names;
}

const damaged = (what: string): VenturiError =>
  new VenturiError("stream.frame", "stream_error", `${what} of the event stream is damaged: its checksum is wrong`);
