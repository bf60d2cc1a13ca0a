import type { Wire } from "../../core/ports/plugin.ts";
import { AwsEventStreamFrames } from "./aws-event-stream.ts";
import { DetectedFrames } from "./detect.ts";
import type { Frames } from "./frames.ts";
import { JsonArrayFrames } from "./json-array.ts";
import { NdjsonFrames } from "./lines.ts";

/** 16 MiB: enough for an image in base64, but stops a server that never ends its line. */
export const defaultMaxEvent = 16 * 1024 * 1024;

export function framesOf(framing: Wire["framing"], limit: number = defaultMaxEvent): Frames {
  switch (framing) {
    case "sse":
      return new DetectedFrames(limit);
    case "ndjson":
      return new NdjsonFrames(limit);
    case "json-array":
      return new JsonArrayFrames(limit);
    case "aws-event-stream":
      return new AwsEventStreamFrames(limit);
  }
}
