import type { Frame } from "../../core/plugin.ts";

/** Cuts a byte stream into frames. Throws `too_large` for an event past the limit; frames before it are in `out`. */
export interface Frames {
  /** Set once another parser takes over for the rest of the stream, with everything pushed so far handed to it. */
  readonly successor?: Frames | undefined;
  push(read: Uint8Array, out: Frame[]): void;
  /** The bytes have ended. */
  end(out: Frame[]): void;
}
