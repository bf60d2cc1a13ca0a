import type { Frame } from "../../core/ports/plugin.ts";

/** Splits a byte stream into frames. Throws `too_large` for an event past the limit; the frames before it are in `out`. */
export interface Frames {
  /** Set once another parser has taken over the rest of the stream, including everything pushed so far. */
  readonly successor?: Frames | undefined;
  /** Bytes that are not UTF-8 have been replaced in some frame so far. */
  readonly replaced?: boolean;
  push(read: Uint8Array, out: Frame[]): void;
  /** End of input. */
  end(out: Frame[]): void;
}
