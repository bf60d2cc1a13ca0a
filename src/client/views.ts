import type { Code } from "../core/codes.ts";
import type { PendingCall, RunEvent, RunInput, Timing } from "../core/events.ts";
import type { Usage } from "../core/usage.ts";

export interface StartRequest {
  readonly agent: string;
  /** A text, or a conversation so far, or values for the agent's declared inputs. */
  readonly input: string | RunInput;
  /** The conversation this run continues. */
  readonly session?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Tighter limits than the agent's own. */
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly model?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  /** Tools of this client: offered to the model, never run by the service, returned as calls. */
  readonly tools?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: Readonly<Record<string, unknown>>;
  }[];
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string };
}

export type RunStatus = "ready" | "running" | "waiting" | "finished" | "failed";

export interface RunView {
  readonly run: string;
  readonly status: RunStatus;
  readonly agent?: string;
  readonly session?: string;
  readonly createdAt?: number;
  readonly updatedAt?: number;
  /** Seq of its last event. */
  readonly head?: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly finish?: string;
  readonly output?: string;
  readonly object?: unknown;
  readonly calls?: readonly PendingCall[];
  readonly usage?: Usage;
  readonly rounds?: number;
  readonly timing?: Timing;
  readonly error?: {
    readonly op: string;
    readonly code: Code;
    readonly err: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
  /** Open questions, while its status is `waiting`. */
  readonly pending?: readonly Question[];
}

/** A tool call that waits for a person. */
export interface Question {
  readonly call: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  readonly since: number;
  /** When silence becomes a no. */
  readonly until?: number;
  readonly origin?: { readonly run: string; readonly call: string; readonly agent: string };
}

export interface Approval extends Question {
  readonly run: string;
  readonly agent: string;
  readonly session?: string;
  readonly parent?: { readonly run: string; readonly call: string };
}

export interface AgentView {
  readonly name: string;
  readonly description?: string;
  readonly model: string;
  readonly models: readonly string[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: unknown }[];
  readonly inputs?: unknown;
}

/** One turn of a session: a run with what it was asked. */
export type TurnView = RunView & { readonly input: RunInput };

export interface PageQuery {
  readonly cursor?: string;
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface RunsQuery extends PageQuery {
  readonly agent?: string;
  readonly session?: string;
  readonly status?: RunStatus;
}

export interface EventsQuery {
  /** Events after this seq. */
  readonly after?: number;
  readonly limit?: number;
  /** Leaves out the pieces of streams (deltas). */
  readonly steps?: boolean;
  readonly signal?: AbortSignal;
}

export interface EventPage {
  readonly run: string;
  readonly status: RunStatus;
  readonly head: number;
  readonly events: readonly RunEvent[];
  /** `after` of the next page; absent at the end of what is committed. */
  readonly next?: number;
}
