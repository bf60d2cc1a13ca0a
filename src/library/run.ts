import type { z } from "zod";
import type { VenturiError } from "../core/errors/errors.ts";
import type { Message } from "../core/model/messages.ts";
import type { RunInput } from "../core/run/event-parts.ts";
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
  /** Checked by the agent's output schema, with its defaults and transforms; undefined for an agent without one. */
  readonly object: Output;
}

export type Outcome<Output = undefined> =
  | ({ readonly ok: true } & Result<Output>)
  | {
      readonly ok: false;
      readonly run: string;
      readonly error: VenturiError;
      /** What was said before it failed. */
      readonly text: string;
    };

/** An object as far as it has come. */
export type Draft<T> = T extends readonly (infer E)[]
  ? Draft<E>[]
  : T extends object
    ? { [K in keyof T]?: Draft<T[K]> }
    : T;

/** `by` and `reason` are kept in the journal. */
export interface Answer {
  readonly reason?: string;
  readonly by?: string;
}

/** Where the new run begins, and what is different in it. */
export interface ForkOptions extends Omit<z.input<typeof ForkRequest>, "after"> {
  /** Seq of the last event taken over; the end of the last finished round when neither this nor `afterRound` is given. */
  readonly after?: number;
  readonly afterRound?: number;
}

export type ResponseFormat = "events" | "text" | "ai-sdk" | "openai" | "ag-ui";

export interface ResponseOptions {
  readonly as?: ResponseFormat;
  /** Events after this seq; with `request`, its `Last-Event-ID`. */
  readonly after?: number;
  /** The request that is answered: its `Last-Event-ID` is where the stream goes on. */
  readonly request?: Request;
  /** What becomes of the run when the reader leaves; `continue` for events and ai-sdk, which resume, else `cancel`. */
  readonly onDisconnect?: "continue" | "cancel";
  readonly headers?: ConstructorParameters<typeof Headers>[0];
}

/** A run that has been started, here or elsewhere. No promise: `await` leaves it as it is. Each reader starts from the beginning. */
export interface Run<Output = unknown, T extends Calls = { "*": Record<string, unknown> }>
  extends AsyncIterable<TypedEvent<Output, T>>,
    AsyncDisposable {
  readonly id: string;
  readonly agent: string;
  readonly session: string | undefined;
  /** As the run was started with. Whose it is must be checked before it is shown to anyone: an id is no permission. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Rejects with the run's error. */
  result(): Promise<Result<Output>>;
  /** Never rejects for the run's failure. */
  outcome(): Promise<Outcome<Output>>;
  /** From the start, or after an event; all of them, or some types. A failed run's last event is an event, not a throw. */
  events<Type extends TypedEvent<Output, T>["type"] = TypedEvent<Output, T>["type"]>(options?: {
    readonly after?: number;
    readonly signal?: AbortSignal;
    readonly types?: readonly Type[];
  }): AsyncIterable<Extract<TypedEvent<Output, T>, { readonly type: Type }>>;
  /** The answer's text as it comes. Throws the run's error at the end, and when `signal` aborts. */
  text(options?: { readonly signal?: AbortSignal }): AsyncIterable<string>;
  /**
   * The object as far as it has come: one object that grows, so copy what you keep. Never checked: the checked one is `result()`'s.
   * Throws the run's error at the end.
   */
  objects(options?: { readonly signal?: AbortSignal }): AsyncIterable<Draft<Output>>;
  /** All questions that wait for a person: approvals, and what tools ask. */
  questions(): Promise<readonly PendingQuestion[]>;
  /** Answers a tool's question. Rejects with `invalid_input` when the answer does not fit; false when it was answered before. */
  answer(call: string, answer: unknown, options?: Answer): Promise<boolean>;
  decline(call: string, options?: Answer): Promise<boolean>;
  /** The calls that wait for approval. */
  pending(): Promise<readonly (CallOf<T> & { readonly reason?: string })[]>;
  /** False when the run has ended or the question was answered before. `arguments` replace those of the call; `for: "run"` allows its tool for the rest of the run. */
  approve(
    call: string,
    options?: Answer & { readonly arguments?: Readonly<Record<string, unknown>>; readonly for?: "run" },
  ): Promise<boolean>;
  deny(call: string, options?: Answer): Promise<boolean>;
  /** A message that the next round sees. False when the run has ended. */
  steer(text: string): Promise<boolean>;
  /** Finishes the round, then waits until `resume`, over restarts. False when the run has ended. */
  pause(reason?: string): Promise<boolean>;
  resume(): Promise<boolean>;
  /** Resolves when the last event is written. */
  cancel(reason?: string): Promise<void>;
  /** Another run that shares what this one had said, from any finished step on; see `POST /v1/runs/R/fork`. */
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
  /** A second start with the same one finds the first one's run. */
  readonly idempotencyKey?: string;
  /** @deprecated It is called `idempotencyKey`. */
  readonly key?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Lower than the agent's. `time` in ms. */
  readonly limits?: {
    readonly maxToolRounds?: number;
    readonly maxToolCalls?: number;
    readonly tokens?: number;
    readonly time?: number;
  };
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  /** The run waits for its first reader when that falls behind. Otherwise a slow reader is served from the journal. */
  readonly pace?: boolean;
  /** Instead of the agent's model, where its `overrides` allow it. */
  readonly model?: string;
  /** Generation options, merged over the agent's. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Logs each step of its tool calls, whatever the log's level. */
  readonly debug?: boolean;
  /** Owner of the run and its session; `default` when absent. */
  readonly tenant?: string;
  /** Answers questions in this process; undefined leaves one to `approve` from anywhere. */
  readonly onApproval?: (asked: CallOf<T> & { readonly reason?: string }) => Verdict | Promise<Verdict>;
  /** Answers what tools ask; undefined leaves a question to `answer` from anywhere. */
  readonly onQuestion?: (asked: PendingQuestion) => unknown;
}

type Bring<Key extends string, Value> = [Value] extends [undefined]
  ? unknown
  : Record<never, never> extends Value
    ? { readonly [K in Key]?: Value }
    : { readonly [K in Key]: Value };

/** `inputs` and `context` are there, and required, exactly when the agent's schemas say so. */
export type RunOptions<S extends AgentSpec> = Common<S["tools"]> &
  Bring<"inputs", S["inputs"]> &
  Bring<"context", S["context"]>;

export type OptionsOf<S extends AgentSpec> =
  Record<never, never> extends RunOptions<S> ? [options?: RunOptions<S>] : [options: RunOptions<S>];
