import type { z } from "zod";
import type { UsageQuery, UsageRow } from "../journal/money.ts";
import type { Embeddings, EmbedRequest, ToolSpec } from "../model/provider.ts";
import type { AgentPause } from "../run/agent-pause.ts";
import type { RunEvent } from "../run/events.ts";
import type { FeedItem, FeedQuery } from "../run/feed.ts";
import type { Feedback, GivenFeedback } from "../run/feedback.ts";
import type { ForkRequest } from "../run/fork.ts";
import type { KeptWire } from "../run/kept-wire.ts";
import type { RunsQuery } from "../run/list-query.ts";
import type { Prompt } from "../run/prompt.ts";
import type { PendingQuestion } from "../run/questions.ts";
import type { RunRequest } from "../run/run-request.ts";
import type { RunRow } from "../run/run-row.ts";
import type { SignalBody, SignalKind } from "../run/signals.ts";
import type { Charged } from "../run/time-parts.ts";
import type { Counted, Grouping } from "../run/totals.ts";
import { token } from "../values/token.ts";
import type { MemoryDocument } from "./documents.ts";
import type { Charge } from "./held.ts";
import type { RateState } from "./rate.ts";

export interface AgentInfo {
  readonly name: string;
  /** Other names clients may use for it; a run stores the agent's own name. */
  readonly aliases: readonly string[];
  readonly description: string | undefined;
  readonly model: string;
  /** Models a call may select instead. */
  readonly models: readonly string[];
  readonly tools: readonly ToolSpec[];
  /** Working memory documents. */
  readonly memory?: readonly MemoryDocument[];
  /** Entries of `memories` that the agent uses. */
  readonly stores?: readonly string[];
  /** JSON Schema of its input variables. */
  readonly inputs: Readonly<Record<string, unknown>> | undefined;
  /** Hash of what models and the journal see of it. */
  readonly revision?: string;
  /** Set while the agent is paused. */
  readonly paused?: AgentPause;
}

/** What happens to fields that cannot reach the model: reported, or refused. */
export type Compat = "report" | "strict";

export interface TokenCount {
  readonly tokens: number;
  /** Counted by the vendor, or estimated from the text length. */
  readonly source: "reported" | "estimated";
}

export interface CountOptions {
  readonly signal?: AbortSignal;
  /** Owner of the session. */
  readonly tenant?: string;
}

export interface StartOptions {
  /** Owner of the run; `default` when absent. A sub-run always inherits its parent's. */
  readonly tenant?: string;
  /** Caller of the run. A sub-run always counts towards its parent's caller. */
  readonly caller?: RunRequest["caller"];
  /** How long the start waited for a free slot, ms; counts as part of the run's time. */
  readonly waitedMs?: number;
  /** Idempotency key, unique within the tenant. */
  readonly key?: string;
  /** What a client sent, as JSON. A caller's runs refuse its key with `conflict` if it began a run with something else; absent, the key alone decides. */
  readonly sent?: unknown;
  /** The run waits for this follower when it falls behind (backpressure), instead of letting it catch up from the journal. */
  readonly paced?: boolean;
  /** The caller's context, for an agent that takes one. */
  readonly context?: unknown;
  /** `strict`: reject with `invalid_input` if any field cannot reach a model of the agent. */
  readonly compat?: Compat;
  /** Marks the run as a shadow for this entry of `models`. */
  readonly shadow?: string;
  /** Memory held by the request; shared with the run until it ends here. */
  readonly held?: Charge | undefined;
}

export interface EmbedInput extends Omit<EmbedRequest, "model"> {
  readonly agent: string;
  readonly compat?: Compat;
  readonly caller?: RunRequest["caller"];
}

export interface Embedded extends Embeddings {
  /** USD, if known. */
  readonly cost?: number;
  /** Request fields that did not reach the model. */
  readonly warnings: readonly string[];
}

export interface FollowOptions {
  /** Events after this seq; 0: from the start. */
  readonly after?: number;
  readonly signal?: AbortSignal;
  /** For delivery metrics. */
  readonly channel?: string;
  /** Only watches: a paced run does not wait for this reader. */
  readonly passive?: boolean;
}

export interface EventQuery {
  /** Events after this seq; 0: from the start. */
  readonly after?: number;
  readonly limit?: number;
  /** Only steps: without deltas, tool output and provider activity. */
  readonly steps?: boolean;
}

export interface EventPage {
  readonly events: readonly RunEvent[];
  /** `after` of the next page; absent when everything committed so far was read. */
  readonly next?: number;
}

/** What an unfinished run waits for, and since how long, where its events cannot tell. */
export interface Doing extends Charged {
  readonly ms: number;
  /** No worker can continue it. */
  readonly stranded?: true;
}

/** Operations on runs for channels, the command line and the library. */
export interface Runs {
  /** Validates, stores and starts a run, or finds it by key. Rejects bad requests before anything streams. */
  start(request: RunRequest, options?: StartOptions): Promise<{ run: string; existing: boolean }>;
  /**
   * Starts a new run that begins with this run's events up to a step and continues with changes. By default no effect is repeated: calls
   * the original made get its results. Rejects with `invalid_input` if `after` is not a step. With a `key`, a second fork of the run finds
   * the first.
   */
  fork(run: string, request: z.input<typeof ForkRequest>, options?: StartOptions): Promise<{ run: string }>;
  /** Yields all events after `after` in committed batches, first stored, then live; ends after the terminal event. */
  follow(run: string, options?: FollowOptions): AsyncIterable<readonly RunEvent[]>;
  /** A page of the run's committed events, without waiting for more. */
  events(run: string, query?: EventQuery): Promise<EventPage>;
  /** A live feed of all runs until `signal` aborts. Begins with `feed.opened`. */
  feed(query?: FeedQuery): AsyncIterable<readonly FeedItem[]>;
  get(run: string): Promise<RunRow>;
  list(query: RunsQuery): Promise<{ runs: RunRow[]; cursor?: string }>;
  /** Sums of the matching ended runs. */
  totals(query: RunsQuery, by?: Grouping): Promise<Counted>;
  /** Usage and cost of generations, in sums that outlive the runs. */
  usage(query: UsageQuery): Promise<UsageRow[]>;
  /** Resolves when the terminal event is written; `details` become part of its error. */
  cancel(run: string, reason?: string, details?: Readonly<Record<string, unknown>>): Promise<void>;
  /**
   * Sends a signal to a run. False when the run has ended, the id is a duplicate or the question was answered already. Rejects
   * with `invalid_input` for an invalid kind or body, `not_found` for a call the run does not have.
   */
  signal<Kind extends SignalKind>(run: string, kind: Kind, body: SignalBody<Kind>, id?: string): Promise<boolean>;
  /** The run's open questions, oldest first. */
  pending(run: string): Promise<readonly PendingQuestion[]>;
  /** What the run waits for now, if this process knows more than the events. */
  doing?(run: string): Promise<Doing | undefined>;
  /** The run's own time, which may differ from a clock that was set since it began. */
  now?(run: string): number | undefined;
  /** Returns a function that reads the tightest per-minute token limit of a run. Undefined when there is none. */
  tokenRate?(run: string): (() => Promise<RateState | undefined>) | undefined;
  agents(): readonly AgentInfo[];
  /**
   * Pauses the agent: its runs finish their round and wait, and so do new ones. Applies to all processes of the journal and survives
   * restarts. Runs belong to the agent they were started with. False if it is already paused.
   */
  pauseAgent?(agent: string, said?: { readonly by?: string; readonly reason?: string }): Promise<boolean>;
  /** False if it is not paused. */
  resumeAgent?(agent: string): Promise<boolean>;
  /** Stores feedback about the run, one per key, person and event; a new one replaces it. Not part of the run's events. */
  giveFeedback(run: string, given: GivenFeedback, options?: Pick<StartOptions, "caller">): Promise<Feedback>;
  /** Oldest first. */
  feedback(run: string): Promise<readonly Feedback[]>;
  /** Input tokens of such a run's first generation. Starts and stores nothing. */
  countInput(request: RunRequest, options?: CountOptions): Promise<TokenCount>;
  /** Embeds texts with the agent's model. */
  embed(request: EmbedInput, signal?: AbortSignal): Promise<Embedded>;
  /** Removes a run and everything stored for it; cancels it first if it is running. */
  remove(run: string): Promise<void>;
  /** The request of a round to its model; `not_found` when there is no such round. */
  prompt?(run: string, round: number): Promise<Prompt>;
  /** Raw provider bytes recorded for the run (`journal.keepWire`), one entry per attempt; empty if none. */
  wires(run: string): Promise<readonly KeptWire[]>;
  /** A blob referred to by the run's input or tools; `not_found` if the hash is not of this run. */
  content(run: string, hash: string): Promise<Uint8Array>;
  /** As `content`, one piece at a time, read on demand. */
  contentPieces(run: string, hash: string): Promise<AsyncIterable<Uint8Array>>;
}
export const Runs = token<Runs>("Runs");
