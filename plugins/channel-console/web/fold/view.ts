import type { RunTimes } from "venturi/client/times";
import type { ErrorBody, EventOf, Message, RunEvent, RunInput, RunStatus, Timing, Usage } from "../state/api-types.ts";

/** A run as the page shows it, folded from its events. Plain mutable data, so that a token costs no copy. */
export interface RunView {
  run: string;
  agent: string;
  session: string | undefined;
  status: RunStatus;
  /** Seq and time of the last event. */
  head: number;
  at: number;
  startedAt: number;
  endedAt: number | undefined;
  input: RunInput | undefined;
  metadata: Readonly<Record<string, unknown>> | undefined;
  config: string | undefined;
  trace: string | undefined;
  parent: { readonly run: string; readonly call: string } | undefined;
  fork: { readonly run: string; readonly after: number } | undefined;
  /** The conversation in chronological order. */
  items: Item[];
  rounds: Round[];
  calls: Map<string, Call>;
  times: RunTimes;
  usage: Usage | undefined;
  /** Usage copied by a fork; not part of `usage`. */
  inherited: Usage | undefined;
  timing: Timing | undefined;
  finish: string | undefined;
  error: ErrorBody | undefined;
  output: string | undefined;
  object: unknown;
  /** Deltas of text, reasoning and arguments so far: a token estimate while the run is active. */
  deltas: number;
  /** Seqs of events that report a problem. */
  mishaps: number[];
}

export interface Round {
  readonly round: number;
  readonly seq: number;
  readonly startedAt: number;
  endedAt: number | undefined;
  readonly attempts: Attempt[];
  readonly calls: Call[];
}

/** One attempt at a generation. */
export interface Attempt {
  readonly round: number;
  readonly attempt: number;
  readonly seq: number;
  readonly model: string;
  readonly provider: string | undefined;
  readonly startedAt: number;
  firstAt: number | undefined;
  endedAt: number | undefined;
  /** Times of the deltas, for the ticks of the waterfall. */
  readonly ticks: number[];
  readonly warnings: readonly string[];
  readonly skipped: readonly string[];
  error: ErrorBody | undefined;
  retryMs: number | undefined;
  usage: Usage | undefined;
  finish: string | undefined;
  retracted: string | undefined;
}

export type CallState =
  | "writing"
  | "ready"
  | "asking"
  | "running"
  | "done"
  | "failed"
  | "rejected"
  | "refused"
  | "client";

export interface Call {
  readonly id: string;
  readonly round: number;
  readonly name: string;
  readonly seq: number;
  state: CallState;
  /** The arguments as they stream; complete once `arguments` is set. */
  argumentsText: string;
  arguments: Readonly<Record<string, unknown>> | undefined;
  readonly startedAt: number;
  readyAt: number | undefined;
  executedAt: number | undefined;
  endedAt: number | undefined;
  progress: string;
  output: string | undefined;
  shown: number | undefined;
  images: readonly Content[];
  files: readonly Content[];
  error: ErrorBody | undefined;
  ms: number | undefined;
  savedMs: number | undefined;
  attempts: number;
  idempotencyKey: string | undefined;
  usage: Usage | undefined;
  /** The run it started, if the tool is an agent. */
  child: string | undefined;
  approval: Approval | undefined;
  retracted: string | undefined;
  lastSeq: number;
}

export interface Content {
  readonly mediaType: string;
  readonly data?: string;
  readonly hash?: string;
  readonly size?: number;
  readonly name?: string;
}

export interface Approval {
  readonly seq: number;
  readonly requestedAt: number;
  readonly until: number | undefined;
  readonly reason: string | undefined;
  readonly origin: { readonly run: string; readonly call: string; readonly agent: string } | undefined;
  /** A tool's question other than approval. */
  readonly question:
    | Pick<EventOf<"question.asked">, "kind" | "message" | "schema" | "choices" | "url" | "fallback">
    | undefined;
  resolvedAt: number | undefined;
  approved: boolean | undefined;
  answer: string | undefined;
  by: string | undefined;
  /** The answer covers the tool's other calls in this run. */
  forRun: boolean;
  /** The arguments after a person changed them. */
  edited: Readonly<Record<string, unknown>> | undefined;
}

export type Item =
  | {
      readonly kind: "user";
      readonly seq: number;
      readonly at: number;
      readonly message: Message;
      readonly steered: boolean;
      /** Id of the key that sent it. */
      readonly by?: string | undefined;
    }
  | Said
  | { readonly kind: "call"; readonly seq: number; readonly call: Call }
  | Notice;

/** Consecutive text, reasoning or refusal of one attempt. */
export interface Said {
  readonly kind: "text" | "reasoning" | "refusal";
  readonly seq: number;
  readonly round: number;
  readonly attempt: number;
  text: string;
  readonly at: number;
  endAt: number;
  open: boolean;
  retracted: string | undefined;
}

export interface Notice {
  readonly kind: "notice";
  readonly tone: "info" | "warning" | "error";
  readonly seq: number;
  readonly at: number;
  readonly title: string;
  readonly text: string;
  readonly event: RunEvent;
}
