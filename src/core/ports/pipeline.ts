import type { Claim } from "../journal/journal.ts";
import type { Billing } from "../journal/money.ts";
import type { RunLog, SignalFeed } from "../journal/run-log.ts";
import type { AgentPause } from "../run/agent-pause.ts";
import type { RunEvent } from "../run/events.ts";
import { token } from "../values/token.ts";
import type { Doing } from "./runs.ts";

/** A claimed run and what is needed to execute it. */
export interface PipelineWork {
  readonly claim: Claim;
  readonly log: RunLog;
  /** Events written before the claim. */
  readonly history: readonly RunEvent[];
  /** Usage not stored yet; absent if nobody needs it. */
  readonly billing?: Billing;
  /** Clock for the run's events. */
  readonly now: () => number;
  readonly signals: SignalFeed;
  /** Ownership is lost: stop and write nothing more. */
  readonly release: AbortSignal;
  /** The run must end now, with its terminal event. */
  readonly interrupt: AbortSignal;
  /** Backpressure: returns a promise to await before reading on when the pacing follower has fallen behind. */
  readonly gate?: () => Promise<void> | undefined;
  /** Channel of that follower. */
  readonly reader?: () => string | undefined;
  /** Why the runs of its agent are paused, if they are. */
  readonly agentPause?: () => AgentPause | undefined;
  /** How long of its time in the queue the agent was paused: starting `ago` ms ago, for `ms`. */
  readonly queuedPaused?: () => { readonly ago: number; readonly ms: number } | undefined;
  /** Receives a function that tells what the executing run waits for. */
  readonly live?: (doing: () => Doing | undefined) => void;
}
export const PipelineWork = token<PipelineWork>("PipelineWork");

/** Executes one run: from the model's stream through deltas and tool calls to its log. */
export interface StreamPipeline {
  run(): Promise<void>;
}
export const StreamPipeline = token<StreamPipeline>("StreamPipeline");

/** Creates the pipeline of each run. */
export interface StreamPipelines {
  open(work: PipelineWork): StreamPipeline;
}
export const StreamPipelines = token<StreamPipelines>("StreamPipelines");
