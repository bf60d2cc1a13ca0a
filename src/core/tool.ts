import type { z } from "zod";
import type { Log } from "./log.ts";
import type { Usage } from "./usage.ts";

/** `pure`: no effect at all. `idempotent`: repeating it with the same key changes nothing more. `effectful`: all else. */
export type Effect = "pure" | "idempotent" | "effectful";

/** `always | once | never`, or a condition on the arguments such as `amount > 100`. */
export type Approval = "always" | "once" | "never" | { readonly when: string };

export interface ToolContext {
  readonly run: string;
  readonly round: number;
  readonly call: string;
  readonly agent: string;
  readonly session?: string;
  readonly attempt: number;
  /** Stable over retries and restarts: `run:call`. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly log: Log;
  /** How deep below the first run this one is (agents as tools). */
  readonly depth: number;
  /** W3C trace context to send on, when the run is traced. */
  traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
  /** Tells followers how it is going; becomes `tool.output`. */
  progress(text: string): void;
  /** What is left of the run's budgets: the limits for anything that the tool starts on the run's behalf. */
  budget(): Budget;
  /** Tokens that this call has used so far, all in all. They count for the run, and end it when its budget is used up. */
  spent(usage: Usage): void;
  /** Asks a person and waits for the answer; the wait does not count toward the tool's timeout. */
  ask(question: Question): Promise<Verdict>;
}

export interface Budget {
  readonly maxToolCalls: number;
  /** Zero or less when used up; absent without a limit. */
  readonly tokens?: number;
  /** Wall time, ms. */
  readonly time?: number;
}

/** Something that a tool asks a person while it runs. */
export interface Question {
  /** Unique within the call and the same after a restart: an answer that is there already is given at once. */
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  /** When silence becomes a no, ms since the epoch; by default after the agent's `approvalTimeout`. */
  readonly until?: number;
  /** The run that asks, when the tool only passes its question on. */
  readonly origin?: { readonly run: string; readonly call: string; readonly agent: string };
  /** Settles the question in another way: it was answered elsewhere, or no answer is needed any more. */
  readonly settled?: Promise<Verdict>;
}

/** A person's answer. */
export interface Verdict {
  readonly approved: boolean;
  readonly reason?: string;
  readonly by?: string;
}

export interface ToolImage {
  readonly mediaType: string;
  readonly data: string;
}

/** A plain value is told to the model as text (a string as it is, anything else as JSON). */
export type ToolOutput = unknown;

/** Shared by all copies of this package, as a plugin may bring its own. */
const richOutput = Symbol.for("venturi.rich-output");

export interface ToolFile extends ToolImage {
  readonly name?: string;
}

/** An output with more than text. */
export class RichOutput {
  static isInstance(value: unknown): value is RichOutput {
    return typeof value === "object" && value !== null && richOutput in value;
  }

  get [richOutput](): true {
    return true;
  }

  readonly text: string;
  readonly images: readonly ToolImage[];
  /** Documents and audio, for models that take them as a tool's result. */
  readonly files: readonly ToolFile[];
  constructor(text: string, images: readonly ToolImage[] = [], files: readonly ToolFile[] = []) {
    this.text = text;
    this.images = images;
    this.files = files;
  }
}

/**
 * Something a model may call. `call` returns the output, or an async iterable whose strings are progress and whose return
 * value (or last yield) is the output. It throws to report a failure; the model is told.
 */
export interface Tool<Input = Record<string, unknown>> {
  readonly name: string;
  readonly description: string;
  readonly parameters: z.ZodType<Input> | Readonly<Record<string, unknown>>;
  /** Vendors' own names for what it does (`local_shell`): a call by one of them is a call of this tool. */
  readonly aliases?: readonly string[];
  /** Turns arguments of a vendor's own shape into this tool's before they are checked; leaves others as they are. */
  adapt?(input: Record<string, unknown>): Record<string, unknown>;
  readonly effect?: Effect;
  /** A call that was cut by a crash may simply be made again: the tool finds what it began by `idempotencyKey`. */
  readonly resumable?: boolean;
  /** Runs alone: no other tool of the run at the same time. */
  readonly exclusive?: boolean;
  readonly approval?: Approval;
  /** Milliseconds. */
  readonly timeout?: number;
  /** Largest output told to the model, in characters; the rest is kept for `read_result`. */
  readonly maxOutput?: number;
  call(input: Input, context: ToolContext): Promise<ToolOutput> | AsyncIterable<string, ToolOutput> | ToolOutput;
}

/** A tool whose input has the type of its zod schema. */
export function defineTool<Schema extends z.ZodType<Record<string, unknown>>>(
  tool: Omit<Tool<z.output<Schema>>, "parameters"> & { readonly parameters: Schema },
): Tool {
  return tool as unknown as Tool; // the loop parses the arguments with `parameters` before `call` sees them
}

/** Several tools that come and go together (an MCP server, a folder of files). */
export interface ToolSource {
  list(): readonly Tool[];
  /** The list has changed. */
  onChange?(callback: () => void): void;
}

export const isToolSource = (value: Tool | ToolSource): value is ToolSource => "list" in value;
