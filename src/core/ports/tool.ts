import type { z } from "zod";
import type { Usage } from "../model/usage.ts";
import type { MemoryEvent } from "../run/events.ts";
import type { ListedSkill } from "../run/listed-skill.ts";
import type { QuestionKind } from "../run/question-events.ts";
import type { Schema } from "../values/schema.ts";
import type { MemoryDocument } from "./documents.ts";
import type { Log } from "./log.ts";

/** `pure`: no side effects. `idempotent`: safe to repeat with the same key. `effectful`: anything else. */
export type Effect = "pure" | "idempotent" | "effectful";

/**
 * `always | once | never`, or a condition on the arguments such as `amount > 100`; `always` when absent. `show`: values highlighted for the
 * person, such as `args.amount` and `metadata.customer`.
 */
export type Approval =
  | "always"
  | "once"
  | "never"
  | { readonly when?: string | undefined; readonly show?: readonly string[] | undefined };

/**
 * Decides for one call whether a person is asked; a returned text is the reason shown. Called once, before the call starts; the journal
 * holds the decision as the question, or as the start of the call.
 */
export type ApprovalFunction<Input = Record<string, unknown>> = (
  input: Input,
  context: CallContext,
) => boolean | string | undefined | Promise<boolean | string | undefined>;

/** The call a tool or an approval function is about. */
export interface CallContext {
  readonly run: string;
  readonly round: number;
  readonly call: string;
  readonly agent: string;
  readonly session?: string;
  /** Owner of the run, and id of the key that started it: whose credentials a tool may use. */
  readonly tenant: string;
  readonly caller?: string;
  readonly attempt: number;
  /** Stable across retries and restarts: `run:call`. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /** The result of the agent's `provide`, or the stored context if it has none. */
  readonly context: unknown;
  /** The run's context as stored. */
  readonly stored: unknown;
  /** Skills listed in the run's instructions. */
  readonly skills?: readonly ListedSkill[];
}

export interface ToolContext extends CallContext {
  readonly log: Log;
  /** Depth below the root run (agents as tools). */
  readonly depth: number;
  /** W3C trace context to propagate, when the run is traced. */
  traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
  /** Reports progress to followers as `tool.output`. */
  progress(text: string): void;
  /** Records what the call did with a memory as an event of the run, committed before its result. */
  record(event: MemoryEvent): void;
  /** The run's remaining budget: the limit for anything the tool starts on its behalf. */
  budget(): Budget;
  /**
   * Total tokens used by this call so far. They count towards the run's budget and end the run when it is exhausted.
   * `cost`: in USD, if it is known.
   */
  spent(usage: Usage, cost?: number): void;
  /** Asks a person and waits; the wait does not count towards the tool's timeout. */
  ask(question: Question): Promise<Verdict>;
  /** Hands the run to another agent from the next round on. Rejects with `tool_failed` when that is not possible. */
  transfer(agent: string): Promise<void>;
}

export interface Budget {
  readonly maxToolCalls: number;
  /** Zero or negative when exhausted; absent without a limit. */
  readonly tokens?: number;
  /** Wall time, ms. */
  readonly time?: number;
}

interface AnyQuestion {
  /** Unique within the call and stable across restarts: an existing answer is returned at once. */
  readonly id: string;
  /** The tool that asks, or that needs approval. */
  readonly name: string;
  /** When it times out, ms since the epoch; default: the agent's `approvalTimeout`. */
  readonly until?: number;
  /** The run that asks, when the tool only forwards its question. */
  readonly origin?: { readonly run: string; readonly call: string; readonly agent: string };
  /** Settles the question by other means: answered elsewhere, or no longer needed. */
  readonly settled?: Promise<Verdict>;
}

/** Asks whether a call may be made. */
export interface ApprovalQuestion extends AnyQuestion {
  readonly kind?: "approve";
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  readonly show?: readonly Shown[];
}

/** A highlighted value and its name. */
export interface Shown {
  readonly name: string;
  readonly value: string;
}

/** Asks for something that only a person knows or can do. */
export interface InputQuestion extends AnyQuestion {
  readonly kind: QuestionKind;
  readonly message: string;
  /** JSON Schema of the answer; without one it is text. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly choices?: readonly string[];
  /** Address where the person does what is asked. */
  readonly url?: string;
  /** Answer used when nobody replies in time; without it the question counts as declined. */
  readonly fallback?: unknown;
}

/** A question a tool asks a person while it runs. */
export type Question = ApprovalQuestion | InputQuestion;

/** The answer to a question. */
export interface Verdict {
  /** The call may run. For other questions: somebody answered. */
  readonly approved: boolean;
  /** The answer itself, when the question was not about approval. */
  readonly answer?: unknown;
  readonly reason?: string;
  readonly by?: string;
  /** Replaces the call's arguments. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Covers all later calls of the tool in the run. */
  readonly for?: "run";
}

export interface ToolImage {
  readonly mediaType: string;
  readonly data: string;
}

/** A plain value reaches the model as text: a string as is, anything else as JSON. */
export type ToolOutput = unknown;

/** In the global symbol registry, since a plugin may bring its own copy of this package. */
const richOutput = Symbol.for("venturi.rich-output");

export interface ToolFile extends ToolImage {
  readonly name?: string;
}

/** Output beyond plain text. */
export class RichOutput {
  static isInstance(value: unknown): value is RichOutput {
    return typeof value === "object" && value !== null && richOutput in value;
  }

  get [richOutput](): true {
    return true;
  }

  readonly text: string;
  readonly images: readonly ToolImage[];
  /** Documents and audio, for models that accept them in tool results. */
  readonly files: readonly ToolFile[];
  constructor(text: string, images: readonly ToolImage[] = [], files: readonly ToolFile[] = []) {
    this.text = text;
    this.images = images;
    this.files = files;
  }
}

/**
 * A tool that models can call. `call` returns the output, or an async iterable whose strings are progress and whose return
 * value (or last yield) is the output. Failures are thrown and reported to the model.
 */
export interface Tool<Input = Record<string, unknown>> {
  readonly name: string;
  readonly description: string;
  /** A schema (zod or any Standard Schema with JSON Schema), or a JSON Schema. */
  readonly parameters: Schema<unknown, Input> | Readonly<Record<string, unknown>>;
  /** Vendor names for the tool (`local_shell`): a call by one of them is a call of this tool. */
  readonly aliases?: readonly string[];
  /** Converts vendor-specific arguments to this tool's schema before validation; leaves others unchanged. */
  adapt?(input: Record<string, unknown>): Record<string, unknown>;
  readonly effect?: Effect;
  /** A call interrupted by a crash can be repeated: the tool finds its earlier work by `idempotencyKey`. */
  readonly resumable?: boolean;
  /** Acts only on its own run, so a fork executes it again instead of asking or reusing the original's result. */
  readonly local?: boolean;
  /** Runs alone: no other tool of the run executes at the same time. */
  readonly exclusive?: boolean;
  readonly approval?: Approval | ApprovalFunction<Input>;
  /** Milliseconds. */
  readonly timeout?: number;
  /** Maximum output sent to the model, in characters; the rest is kept for `read_result`. */
  readonly maxOutput?: number;
  /** The working memory document that it changes. */
  readonly memory?: MemoryDocument;
  /** The entry of `memories` that it reads or writes. */
  readonly store?: string;
  /** Additional span attributes of each execution, following the semantic conventions: server, protocol. No content. */
  spanAttributes?(): Readonly<Record<string, string | number | boolean>>;
  call(input: Input, context: ToolContext): Promise<ToolOutput> | AsyncIterable<string, ToolOutput> | ToolOutput;
}

type Defined<Schema extends z.ZodType> = Omit<Tool<z.output<Schema>>, "parameters">;

/** A tool whose input type is inferred from its zod schema, `input`. */
export function defineTool<Schema extends z.ZodType<Record<string, unknown>>>(
  tool: Defined<Schema> & { readonly input: Schema },
): Tool;
/** @deprecated `parameters` is called `input`, as in `tool` of `venturi`. */
export function defineTool<Schema extends z.ZodType<Record<string, unknown>>>(
  tool: Defined<Schema> & { readonly parameters: Schema },
): Tool;
export function defineTool({ input, ...tool }: object & { readonly input?: unknown }): Tool {
  if (input === undefined) {
    const message = "defineTool({ parameters }) is called defineTool({ input })";
    process.emitWarning(message, { type: "DeprecationWarning", code: "VENTURI_PARAMETERS" }); // Node shows each code once.
    return tool as Tool;
  }
  return { ...tool, parameters: input } as unknown as Tool; // The loop validates the arguments before `call`.
}

/** A changing set of tools (an MCP server, a folder of files). */
export interface ToolSource {
  list(): readonly Tool[];
  onChange?(callback: () => void): void;
}

export const isToolSource = (value: Tool | ToolSource): value is ToolSource => "list" in value;
