import type { RunEvent } from "./events.ts";
import type { Claim, RunLog, SignalFeed } from "./journal.ts";
import { token } from "./token.ts";

/** A run that a worker has claimed, and what it is worked on with. */
export interface PipelineWork {
  readonly claim: Claim;
  readonly log: RunLog;
  /** What the run had written before it was claimed. */
  readonly history: readonly RunEvent[];
  /** When work on it began here, on the monotonic clock. */
  readonly startedAt: number;
  readonly signals: SignalFeed;
  /** The run is somebody else's from now on: stop, and write nothing more. */
  readonly release: AbortSignal;
  /** The run is to end now, with its terminal event. */
  readonly interrupt: AbortSignal;
  /** Something to wait for before reading on, when the follower that paces the run has fallen behind. */
  readonly gate?: () => Promise<void> | undefined;
}
export const PipelineWork = token<PipelineWork>("PipelineWork");

/** Takes one run from its model's stream over deltas, tool calls and tools to its log. */
export interface StreamPipeline {
  run(): Promise<void>;
}
export const StreamPipeline = token<StreamPipeline>("StreamPipeline");

/** Makes the pipeline of each run. */
export interface StreamPipelines {
  open(work: PipelineWork): StreamPipeline;
}
export const StreamPipelines = token<StreamPipelines>("StreamPipelines");
