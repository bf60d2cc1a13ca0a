import type { Stored } from "./stored.ts";

/** A message as sent. `headers`: lines, each terminated by CRLF. */
export interface Outgoing {
  readonly subject: string;
  readonly headers: string;
  readonly data: Uint8Array;
}

/** A logical message of any size. */
export interface Write extends Outgoing {
  /** Only the first fragment is fenced: the fragments are stored atomically. */
  readonly fence?: string;
}

/** Protocol line, `NATS/1.0`, the batch headers and the fragment's own; a server counts headers as payload. */
const overhead = 512;

/** Splits a write at `maxPayload`: one message, or fragments to be stored as one batch. */
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

/** Reassembles fragments, which are adjacent under their subject. */
export class Joiner {
  #fragments: Stored[] = [];

  /** The complete message, once its last fragment is there. */
  take(message: Stored): Stored | undefined {
    const place = message.header("P");
    if (place === undefined) return message;
    const [number, count] = place.split("/").map(Number);
    if (number === 1) this.#fragments = [];
    this.#fragments.push(message);
    if (number !== count || this.#fragments.length !== count) return undefined;
    const data = Buffer.concat(this.#fragments.map((fragment) => fragment.data));
    this.#fragments = [];
    return { ...message, data };
  }
}

export const isFragment = (message: Stored): boolean => message.header("P") !== undefined;
