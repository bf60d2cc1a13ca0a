import type { Message } from "../model/messages.ts";
import type { Native, NativeRequest } from "../model/native.ts";
import type { NativeGrants } from "../model/native-rules.ts";
import type { GenerationOptions, OutputFormat, ToolChoice, ToolSpec } from "../model/provider.ts";
import type { RunInput } from "./event-fields.ts";
import type { GuardVerdict } from "./guard-verdict.ts";
import type { Unanswered } from "./unanswered.ts";

/** Tenant of runs without an authenticated caller: no `server.auth`, the command line, the library. */
export const defaultTenant = "default";

/** A run's request as stored: everything another replica needs to execute it. */
export interface RunRequest {
  readonly agent: string;
  readonly input: RunInput;
  /** Instructions from the client for this run only: appended to the agent's, not kept in the session. */
  readonly instructions?: Message;
  readonly session?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly limits?: Readonly<Record<string, unknown>>;
  /** Overrides the agent's model; a name from the config. */
  readonly model?: string;
  readonly options?: GenerationOptions;
  /** Client tools: offered to the model, never executed here, returned as calls. Empty: the client accepts calls but supplied no tools. */
  readonly clientTools?: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice;
  readonly output?: OutputFormat;
  /** Fields of the client's wire not represented above, for providers of the same wire. */
  readonly native?: NativeRequest;
  readonly nativeChoice?: Native;
  /** Fields the channel cannot express; reported together with those the provider cannot. */
  readonly unsent?: readonly string[];
  /** Logs debug lines of this run's tool calls, whatever the service's log level. */
  readonly debug?: true;
  /** Calls no model: the run adds its input to the session and ends. */
  readonly remember?: true;
  /** The webhook to notify about this run, and the URL if it is not the webhook's own. */
  readonly notify?: { readonly webhook: string; readonly url?: string };
  /** Data of the channel that started the run, under the channel's key, for rendering the run later. */
  readonly channel?: Readonly<Record<string, unknown>>;
  /** W3C trace context and baggage of the incoming request. */
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
  readonly parent?: { readonly run: string; readonly call: string; readonly depth: number };
  /** Set on a forked run. */
  readonly fork?: ForkOrigin;
  /** Set on a shadow run, and on those it starts: the entry of `models` whose shadow it is. */
  readonly shadow?: string;
  /** What happens to the run when the client that started it disconnects. */
  readonly onDisconnect?: "continue" | "cancel";
  /**
   * Caller of the run, or of its root run. `concurrentRuns` limits its running and queued runs; `overrides`: native grants of its key
   * beyond the agent's; `agents`: those its key is limited to, and so are the sessions of its runs.
   */
  readonly caller?: {
    readonly id: string;
    readonly concurrentRuns?: number;
    readonly overrides?: NativeGrants;
    readonly agents?: readonly string[];
  };
  /** The user it is for: the subject of the caller's token, or `metadata.user`; a called run inherits it. */
  readonly user?: string;
  /** Context for the agent's tools and hooks. Never shown to the model. */
  readonly context?: unknown;
  /** Guard decisions about the input, made before it was stored. */
  readonly guarded?: readonly GuardVerdict[];
  /** Fingerprint of what a client sent under its idempotency key. */
  readonly sent?: string;
  /** Revision of the agent that accepted the request; `claim` can filter by revision. */
  readonly revision?: string;
}

/** Origin of a forked run, and what differs while it executes. */
export interface ForkOrigin {
  readonly run: string;
  readonly after: number;
  readonly tools: "recorded" | "run" | "ask";
  /** Default: `ask`. */
  readonly unanswered?: Unanswered;
  /** Idempotency keys of copied calls without a result: a repeated effect is recognised as the original's. */
  readonly keys?: Readonly<Record<string, string>>;
  /** Replaces the agent's instructions. */
  readonly instructions?: string;
}
