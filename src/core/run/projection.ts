import type { VenturiError } from "../errors/errors.ts";
import type { EventOf, RunEvent } from "./events.ts";

export interface ProjectedRun {
  readonly run: string;
  readonly agent: string;
  readonly session: string | undefined;
}

/** Projects a run to a channel's wire, for a response the channel does not send itself. One instance per response. */
export interface Projection {
  /** The frames of an event; empty when the wire does not show it. */
  project(event: RunEvent): string;
  /** A frame for a quiet stream. */
  heartbeat?(): string;
  /** The last frame when the events cannot be read further. */
  failed?(error: VenturiError): string;
  /** The response ends after this event although the run continues. */
  until?(event: RunEvent): boolean;
}

/** A tool's output; for a large one its beginning, and where the complete output is. */
export const shownOutput = ({ run, output, hash, length }: EventOf<"tool.finished">): string | undefined =>
  hash === undefined
    ? output
    : `${output}\n[cut: ${output?.length} of ${length} characters; GET /v1/runs/${run}/content/${hash} has all]`;
