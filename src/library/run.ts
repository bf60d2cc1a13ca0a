import type { z } from "zod";
import type { VenturiError } from "../core/errors/errors.ts";
import type { Message } from "../core/model/messages.ts";
import type { RunInput } from "../core/run/event-fields.ts";
import type { EventOf } from "../core/run/events.ts";
import type { ForkRequest } from "../core/run/fork.ts";
import type { PendingQuestion } from "../core/run/questions.ts";
import type { AgentSpec } from "./agent.ts";
import type { TypedEvent } from "./events.ts";
import type { CallOf, Calls } from "./hooks.ts";

export interface Result<Output = undefined>
  extends Pick<EventOf<"run.finished">, "finish" | "usage" | "cost" | "totalCost" | "rounds" | "timing" | "calls"> {
  readonly run: string;
  readonly text: string;
  /** Validated with the agent's output schema, including defaults and transforms; undefined without one. */
  readonly object: Output;
}

export type Outcome<Output = undefined> =
  | ({ readonly ok: true } & Result<Output>)
  | {
      readonly ok: false;
      readonly run: string;
      readonly error: VenturiError;
      /** The text before it failed. */
      readonly text: string;
    };

/** An object that may still be incomplete. */
export type Draft<T> = T extends readonly (infer E)[]
  ? Draft<E>[]
  : T extends object
    ? { [K in keyof T]?: Draft<T[K]> }
    : T;

/** `by` and `reason` are stored in the journal. */
export interface Answer {
  readonly reason?: string;
  readonly by?: string;
}

/** Where the new run begins, and what changes in it. */
export interface ForkOptions extends Omit<z.input<typeof ForkRequest>, "after"> {
  /** Seq of the last event copied; default: the end of the last finished round, or of `afterRound`. */
  readonly after?: number;
  readonly afterRound?: number;
}

export type ResponseFormat = "events" | "text" | "ai-sdk" | "openai" | "ag-ui";

export interface ResponseOptions {
  readonly as?: ResponseFormat;
  /** Events after this seq; default: the `Last-Event-ID` of `request`. */
  readonly after?: number;
  /** The request being answered; its `Last-Event-ID` is the resume position. */
  readonly request?: Request;
  /** What happens to the run when the reader leaves; default: `continue` for events and ai-sdk, which can resume, otherwise `cancel`. */
  readonly onDisconnect?: "continue" | "cancel";
  readonly headers?: ConstructorParameters<typeof Headers>[0];
}

/** A run, started here or elsewhere. Not a promise: `await` returns it unchanged. Each reader starts from the beginning. */
export interface Run<Output = unknown, T extends Calls = { "*": Record<string, unknown> }>
  extends AsyncIterable<TypedEvent<Output, T>>,
    AsyncDisposable {
  readonly id: string;
  readonly agent: string;
  readonly session: string | undefined;
  /** As given at the start. Check whose run it is before showing it to anyone: knowing an id is not a permission. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Rejects with the run's error. */
  result(): Promise<Result<Output>>;
  /** Never rejects because the run failed. */
  outcome(): Promise<Outcome<Output>>;
  /** From the start or after an event; all of them or some types. A failed run ends with an event, not an exception. */
  events<Type extends TypedEvent<Output, T>["type"] = TypedEvent<Output, T>["type"]>(options?: {
    readonly after?: number;
    readonly signal?: AbortSignal;
    readonly types?: readonly Type[];
  }): AsyncIterable<Extract<TypedEvent<Output, T>, { readonly type: Type }>>;
  /** The answer's text as it arrives. Throws the run's error at the end, and when `signal` aborts. */
  text(options?: { readonly signal?: AbortSignal }): AsyncIterable<string>;
  /**
   * The object as it grows: the same object each time, so copy what you keep. Not validated; `result()` returns the validated one. Throws
   * the run's error at the end.
   */
  objects(options?: { readonly signal?: AbortSignal }): AsyncIterable<Draft<Output>>;
  /** All questions waiting for a person: approvals, and questions of tools. */
  questions(): Promise<readonly PendingQuestion[]>;
  /** Answers a tool's question. Rejects with `invalid_input` if the answer does not fit; false if it was already answered. */
  answer(call: string, answer: unknown, options?: Answer): Promise<boolean>;
  decline(call: string, options?: Answer): Promise<boolean>;
  /** The calls waiting for approval. */
  pending(): Promise<readonly (CallOf<T> & { readonly reason?: string })[]>;
  /**
   * False if the run has ended or the question was already answered. `arguments` replaces the call's; `for: "run"` allows the tool for the
   * rest of the run.
   */
  approve(
    call: string,
    options?: Answer & { readonly arguments?: Readonly<Record<string, unknown>>; readonly for?: "run" },
  ): Promise<boolean>;
  deny(call: string, options?: Answer): Promise<boolean>;
  /** Sends a message that the next round includes. False if the run has ended. */
  steer(text: string): Promise<boolean>;
  /** Finishes the round, then waits until `resume`, across restarts. False if the run has ended. */
  pause(reason?: string): Promise<boolean>;
  resume(): Promise<boolean>;
  /** Resolves when the terminal event is written. */
  cancel(reason?: string): Promise<void>;
  /** A new run that shares this one's events up to a finished step; see `POST /v1/runs/R/fork`. */
  fork(options?: ForkOptions): Promise<Run<Output, T>>;
  /** A stream for a browser. Reading starts with the response's body. */
  response(options?: ResponseOptions): Response;
  /** Leaving an `await using` block cancels a run that has not ended. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Text, messages of a conversation so far, or both with values for the agent's inputs. */
export type Input = string | readonly Message[] | Omit<RunInput, "variables">;

export type Verdict =
  | boolean
  | {
      readonly approved: boolean;
      readonly reason?: string;
      readonly by?: string;
      readonly arguments?: Readonly<Record<string, unknown>>;
    }
  | undefined;

interface Common<T extends Calls> {
  readonly session?: string;
  /** A second start with the same key returns the first run. */
  readonly idempotencyKey?: string;
  /** @deprecated Use `idempotencyKey`. */
  readonly key?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** May only lower the agent's limits. `time` in ms. */
  readonly limits?: {
    readonly maxToolRounds?: number;
    readonly maxToolCalls?: number;
    readonly tokens?: number;
    readonly time?: number;
  };
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  /** Makes the run wait when its first reader falls behind. Otherwise a slow reader is served from the journal. */
  readonly pace?: boolean;
  /** Replaces the agent's model, if its `overrides` allow it. */
  readonly model?: string;
  /** Generation options, merged over the agent's. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Logs each step of its tool calls, whatever the log level. */
  readonly debug?: boolean;
  /** Owner of the run and its session; default `default`. */
  readonly tenant?: string;
  /** Answers approvals in this process; return undefined to leave one to `approve` from anywhere. */
  readonly onApproval?: (asked: CallOf<T> & { readonly reason?: string }) => Verdict | Promise<Verdict>;
  /** Answers questions of tools; return undefined to leave one to `answer` from anywhere. */
  readonly onQuestion?: (asked: PendingQuestion) => unknown;
}

type Bring<Key extends string, Value> = [Value] extends [undefined]
  ? unknown
  : Record<never, never> extends Value
    ? { readonly [K in Key]?: Value }
    : { readonly [K in Key]: Value };

/** `inputs` and `context` exist, and are required, exactly when the agent's schemas say so. */
export type RunOptions<S extends AgentSpec> = Common<S["tools"]> &
  Bring<"inputs", S["inputs"]> &
  Bring<"context", S["context"]>;

export type OptionsOf<S extends AgentSpec> =
  Record<never, never> extends RunOptions<S> ? [options?: RunOptions<S>] : [options: RunOptions<S>];
