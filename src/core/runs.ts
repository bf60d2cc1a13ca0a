import type { RunEvent } from "./events.ts";
import type { ListQuery, RunRequest, RunRow } from "./journal.ts";
import type { Embeddings, EmbedRequest, ToolSpec } from "./provider.ts";
import type { SignalBody, SignalKind } from "./signals.ts";
import { token } from "./token.ts";

export interface AgentInfo {
  readonly name: string;
  /** Other names that clients may call it by; a run keeps the agent's own. */
  readonly aliases: readonly string[];
  readonly description: string | undefined;
  readonly model: string;
  /** Models that a call may choose instead. */
  readonly models: readonly string[];
  readonly tools: readonly ToolSpec[];
  /** JSON Schema of its input variables. */
  readonly inputs: Readonly<Record<string, unknown>> | undefined;
}

/** What becomes of fields that cannot reach the model: reported, or refused. */
export type Compat = "report" | "strict";

export interface TokenCount {
  readonly tokens: number;
  /** By the model's vendor, or by the length of the text where the vendor does not count. */
  readonly source: "reported" | "estimated";
}

export interface CountOptions {
  readonly signal?: AbortSignal;
  /** Owner of the session. */
  readonly tenant?: string;
}

export interface StartOptions {
  /** Owner of the run; `default` when absent. A sub-run has its parent's, whatever is said here. */
  readonly tenant?: string;
  /** Who starts it; a sub-run counts for its parent's, whatever is said here. */
  readonly caller?: RunRequest["caller"];
  /** Idempotency key, unique within the tenant. */
  readonly key?: string;
  /** The run waits for this follower when it falls behind, instead of leaving it to the journal. */
  readonly paced?: boolean;
  /** `strict`: a field that a model of the agent would not be told is refused with `invalid_input`. */
  readonly compat?: Compat;
}

export interface EmbedInput extends Omit<EmbedRequest, "model"> {
  readonly agent: string;
  readonly compat?: Compat;
}

export interface Embedded extends Embeddings {
  /** What of the request the model was not told. */
  readonly warnings: readonly string[];
}

export interface FollowOptions {
  /** Events after this seq; 0 = from the start. */
  readonly after?: number;
  readonly signal?: AbortSignal;
  /** For the measurement of delivery. */
  readonly channel?: string;
}

/** A question that nobody has answered yet. */
export interface PendingApproval {
  readonly call: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  /** Asked, and when silence becomes a no; ms since the epoch. */
  readonly since: number;
  readonly until?: number;
  /** Whose question it is when a called agent asks. */
  readonly origin?: { readonly run: string; readonly call: string; readonly agent: string };
}

/** What channels, the command line and the library do with runs. */
export interface Runs {
  /** Validates, stores and starts (or finds, by key) a run. Rejects before anything streams when the request is bad. */
  start(request: RunRequest, options?: StartOptions): Promise<{ run: string; existing: boolean }>;
  /** Exactly what follows `after`, in batches as committed, then live, then ends after the terminal event. */
  follow(run: string, options?: FollowOptions): AsyncIterable<readonly RunEvent[]>;
  get(run: string): Promise<RunRow>;
  list(query: ListQuery): Promise<{ runs: RunRow[]; cursor?: string }>;
  /** Resolves when the terminal event is written; `details` stand in its error. */
  cancel(run: string, reason?: string, details?: Readonly<Record<string, unknown>>): Promise<void>;
  /**
   * Says something to a run. False when the run has ended, the id was seen before or the question is answered already.
   * Rejects with `invalid_input` for a kind or body that is none, `not_found` for a call that the run does not have.
   */
  signal<Kind extends SignalKind>(run: string, kind: Kind, body: SignalBody<Kind>, id?: string): Promise<boolean>;
  /** The questions that the run waits for, oldest first. */
  pending(run: string): Promise<readonly PendingApproval[]>;
  agents(): readonly AgentInfo[];
  /** How many tokens the first generation of such a run would read. Nothing is started or stored. */
  countInput(request: RunRequest, options?: CountOptions): Promise<TokenCount>;
  /** Texts as vectors, by the agent's model. */
  embed(request: EmbedInput, signal?: AbortSignal): Promise<Embedded>;
  /** Removes a run and all that is its; one under way is cancelled first. */
  remove(run: string): Promise<void>;
  /** Bytes that the run's input or a tool of it named by hash; `not_found` when they are not that run's. */
  content(run: string, hash: string): Promise<Uint8Array>;
}
export const Runs = token<Runs>("Runs");
