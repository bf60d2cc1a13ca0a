import type { Frame, Wire } from "../../core/plugin.ts";
import { DetectedFrames } from "./detect.ts";
import { JsonArrayFrames } from "./json-array.ts";
import { NdjsonFrames } from "./ndjson.ts";

/** Cuts a byte stream into frames. Throws `too_large` for an event past the limit; frames before it are in `out`. */
export interface Frames {
  /** Set once another parser takes over for the rest of the stream, with everything pushed so far handed to it. */
  readonly successor?: Frames | undefined;
  push(read: Uint8Array, out: Frame[]): void;
  /** The bytes have ended. */
  end(out: Frame[]): void;
}

/** 16 MiB: an image in base64 fits, a server that never ends its line does not. */
export const defaultMaxEvent = 16 * 1024 * 1024;

export function framesOf(framing: Wire["framing"], limit: number = defaultMaxEvent): Frames {
  switch (framing) {
    case "sse":
      return new DetectedFrames(limit);
    case "ndjson":
      return new NdjsonFrames(limit);
    case "json-array":
      return new JsonArrayFrames(limit);
  }
}
