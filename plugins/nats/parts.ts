import type { Stored } from "./stored.ts";

/** One message as it is sent. `headers`: lines, each ended by CRLF. */
export interface Outgoing {
  readonly subject: string;
  readonly headers: string;
  readonly data: Uint8Array;
}

/** One message as it is meant, of whatever size. */
export interface Write extends Outgoing {
  /** Only the first part is compared: the parts go in together. */
  readonly fence?: string;
}

/** Protocol line, `NATS/1.0`, the batch headers and the part's own; a server counts headers as payload. */
const overhead = 512;

/** The messages that a write needs where a message may have `maxPayload` bytes: one, or parts to be stored as one batch. */
export function cut({ subject, fence = "", headers, data }: Write, maxPayload: number): Outgoing[] {
  const room = Math.max(1, maxPayload - overhead - fence.length - headers.length);
  if (data.length <= room) return [{ subject, headers: fence + headers, data }];
  const count = Math.ceil(data.length / room);
  return Array.from({ length: count }, (_, index) => ({
    subject,
    headers: `${index === 0 ? fence : ""}${headers}P: ${index + 1}/${count}\r\n`,
    data: data.subarray(index * room, (index + 1) * room),
  }));
}

/** Puts parts together again; they stand next to each other under their subject. */
export class Joiner {
  #parts: Stored[] = [];

  /** The whole message, once its last part is there. */
  take(message: Stored): Stored | undefined {
    const place = message.header("P");
    if (place === undefined) return message;
    const [number, count] = place.split("/").map(Number);
    if (number === 1) this.#parts = [];
    this.#parts.push(message);
    if (number !== count || this.#parts.length !== count) return undefined;
    const data = Buffer.concat(this.#parts.map((part) => part.data));
    this.#parts = [];
    return { ...message, data };
  }
}

export const isPart = (message: Stored): boolean => message.header("P") !== undefined;
