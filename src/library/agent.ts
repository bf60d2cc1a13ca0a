import { VenturiError } from "../core/errors/errors.ts";
import { type CallSite, callSite } from "./call-site.ts";
import type { Context } from "./context.ts";
import type { Calls, Hooks } from "./hooks.ts";
import type { GuardEntry, ModelRef, ToolEntry } from "./plugins.ts";
import type { AnySchema, In, Out } from "./schema.ts";
import type { Tool } from "./tool.ts";

/** An agent's types, known at compile time. */
export interface AgentSpec {
  name: string;
  /** The validated object; undefined when the agent answers in text. */
  output: unknown;
  /** What a run must supply for `{{name}}` and the instructions; undefined if nothing. */
  inputs: unknown;
  /** What a run must supply for the tools, as it is stored; undefined if nothing. */
  context: unknown;
  tools: Calls;
}

/** The types of an agent known only by name. */
export interface Named extends AgentSpec {
  output: unknown;
  inputs: { readonly [name: string]: unknown };
  context: { readonly [name: string]: unknown };
  tools: { "*": Record<string, unknown> };
}

type TaskOf<S extends AgentSpec> = [S["inputs"]] extends [undefined]
  ? { task: string }
  : { task: string; variables: S["inputs"] };
type AnswerOf<S extends AgentSpec> = [S["output"]] extends [undefined] ? string : S["output"];
type Needs<C> = [C] extends [undefined] ? unknown : C;

/** Enough of an agent to start runs of it. */
// biome-ignore lint/suspicious/noExplicitAny: the type of any agent
export interface AgentLike<Spec extends AgentSpec = any> {
  readonly kind: "agent";
  readonly name: Spec["name"];
  /** For types only. */
  readonly "~spec"?: Spec;
}

// biome-ignore lint/suspicious/noExplicitAny: the type of any agent
export interface Agent<Spec extends AgentSpec = any> extends AgentLike<Spec> {
  /**
   * This agent as a tool for other agents: executed as a separate run, linked to the caller's. Its context is taken from the caller's
   * stored one.
   */
  asTool(): Tool<Spec["name"], TaskOf<Spec>, AnswerOf<Spec>, Needs<Spec["context"]>>;
  asTool<const Name extends string>(options: {
    name: Name;
    description?: string;
  }): Tool<Name, TaskOf<Spec>, AnswerOf<Spec>, Needs<Spec["context"]>>;
  /** `context` derives the called agent's stored context from what the caller's tools receive. */
  asTool<const Name extends string, Caller>(options: {
    name: Name;
    description?: string;
    context: (caller: Caller) => Spec["context"];
  }): Tool<Name, TaskOf<Spec>, AnswerOf<Spec>, Caller>;
}
export type AnyAgent = Agent;

type InOf<S> = [S] extends [undefined] ? undefined : In<S>;
type OutOf<S> = [S] extends [undefined] ? undefined : Out<S>;
type StoredOf<C> = [C] extends [undefined] ? undefined : C extends Context<infer Stored, infer _Live> ? Stored : In<C>;
type LiveOf<C> = [C] extends [undefined] ? undefined : C extends Context<infer _Stored, infer Live> ? Live : Out<C>;
export type SpecOf<A> = A extends Agent<infer S> ? S : never;
// biome-ignore-start lint/suspicious/noExplicitAny: patterns that match any tool
/** `& {}` makes editors show the names and arguments instead of this type's name. */
type CallsOf<T extends readonly unknown[]> = {
  [K in T[number] as K extends Tool<infer Name, any, unknown, any> ? Name : "*"]: K extends Tool<
    any,
    infer Input,
    unknown,
    any
  >
    ? Input
    : Record<string, unknown>;
} & {};
// biome-ignore-end lint/suspicious/noExplicitAny: see above
type OutputOf<A> = A extends AnyAgent ? SpecOf<A>["output"] : unknown;

export interface AgentOptions<
  Name extends string,
  O,
  I,
  C,
  Tools extends readonly unknown[],
  Handoffs extends readonly unknown[],
> {
  /** Identifies the agent in the journal: its runs can be continued by any process with an agent of this name. */
  readonly name: Name;
  /** What it is for; shown in lists and to agents that may call it or hand over to it. */
  readonly description?: string;
  /** `"anthropic/claude-sonnet-4-5"`, an entry of `models` in the configuration, or the result of a provider or `chain`. */
  readonly model: string | ModelRef;
  /** What runs must supply for the tools: a `context`, or the schema of what is stored. */
  readonly context?: C;
  readonly inputs?: I;
  /** The system prompt. A function is called once per run; its result is stored with the run. */
  readonly instructions?:
    | string
    | ((given: { readonly inputs: OutOf<I>; readonly context: LiveOf<C> }) => string | Promise<string>);
  /** Tools defined in code, tools of plugins, or names from the configuration's `tools`. */
  readonly tools?: Tools;
  /** Folders with a SKILL.md, or patterns such as `"./skills/*"`; relative to the configuration's folder, or the working directory. */
  readonly skills?: readonly string[];
  readonly output?: O;
  /** Agents, or names of agents, that the model may hand the run to. */
  readonly handoffs?: Handoffs;
  readonly limits?: AgentLimits;
  readonly toolPolicy?: AgentToolPolicy;
  /** What to do when the conversation fills the model's context. */
  readonly compaction?: AgentCompaction;
  /** Generation options, merged over the model's. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Other names clients may use for it. */
  readonly aliases?: readonly string[];
  readonly overrides?: {
    readonly models?: readonly string[];
    readonly options?: readonly string[];
    /** Vendor request fields (names, or `all`) that clients of the same wire may additionally set. */
    readonly native?: "all" | readonly string[];
    /** Tools executed by the vendor (names, or `all`) that clients may offer. */
    readonly vendorTools?: "all" | readonly string[];
  };
  /** A second run on a busy session waits for its turn (the default) or is refused. */
  readonly whenBusy?: "wait" | "conflict";
  readonly hooks?: Hooks<CallsOf<Tools>, LiveOf<C>>;
  /** What to block or mask: `rules({ … })`, `judge({ … })`, or names from the configuration's `guards`. */
  readonly guards?: readonly (GuardEntry | string)[];
  /** Change this when the behaviour changes in a way that no schema or text shows. */
  readonly revision?: string;
}

/** Durations are ms or "30s", sizes characters or "64KiB". */
export interface AgentLimits {
  readonly maxToolRounds?: number;
  readonly maxToolCalls?: number;
  readonly maxCallsPerRound?: number;
  readonly tokens?: number;
  readonly outputTokens?: number;
  readonly outputBytes?: number | string;
  readonly generationBytes?: number | string;
  readonly time?: number | string;
  readonly onLimit?: "finish" | "error";
}

export interface AgentToolPolicy {
  readonly dispatch?: "eager" | "round";
  readonly concurrency?: number;
  readonly onError?: "feedback" | "abort";
  readonly timeout?: number | string;
  readonly grace?: number | string;
  readonly maxOutput?: number | string;
  readonly approvalTimeout?: number | string;
  readonly onUncertain?: "ask" | "fail";
  /** With more tools than `above`, the model is offered `find_tools` and the tools it finds. */
  readonly defer?: { readonly above: number };
}

export interface AgentCompaction {
  readonly by?: "summary" | "drop";
  /** Share of the model's `contextTokens`; default 0.8. */
  readonly at?: number;
  /** Number of newest messages that a summary leaves unchanged. */
  readonly keep?: number;
  /** Writes the summaries; default: the agent's model. */
  readonly model?: string | ModelRef;
  readonly instructions?: string;
  /** Tool results older than this many rounds are sent as references. */
  readonly results?: { readonly olderThan: number };
}

/** Defines an agent: a plain value for `openVenturi` and `venturi.run`. */
export function agent<
  const Name extends string,
  // biome-ignore lint/suspicious/noExplicitAny: any tool whose context this agent provides
  const Tools extends readonly (Tool<string, any, unknown, LiveOf<C>> | ToolEntry | string)[] = [],
  O extends AnySchema | undefined = undefined,
  I extends AnySchema | undefined = undefined,
  C extends Context | AnySchema | undefined = undefined,
  const Handoffs extends readonly (AnyAgent | string)[] = [],
>(
  options: AgentOptions<Name, O, I, C, Tools, Handoffs>,
): Agent<{
  name: Name;
  output: OutOf<O> | OutputOf<Handoffs[number]>;
  inputs: InOf<I>;
  context: StoredOf<C>;
  tools: CallsOf<readonly [...Tools, ...Handoffs]>;
}> {
  const { name } = options;
  if (!/^[A-Za-z0-9][A-Za-z0-9_.@:/-]*$/.test(name)) {
    const message = `"${name}" is no agent name; use letters, digits, _, ., @, :, / and -`;
    throw new VenturiError("agent.define", "config_invalid", message);
  }
  if (options.model === undefined) {
    throw new VenturiError("agent.define", "config_invalid", `${name}: a model is needed, such as "openai/gpt-5-mini"`);
  }
  const made: CodeAgent = {
    kind: "agent",
    name,
    asTool: (called: CalledOptions = { name }) => calledAgent(made, called),
    "~agent": { options: options as AnyAgentOptions, place: callSite(agent) },
  };
  return made as unknown as ReturnType<typeof agent<Name, Tools, O, I, C, Handoffs>>; // By the signature above.
}

// biome-ignore lint/suspicious/noExplicitAny: options of any agent
export type AnyAgentOptions = AgentOptions<string, any, any, any, readonly unknown[], readonly (AnyAgent | string)[]>;

/** An agent including what the runtime needs. */
export interface CodeAgent extends Omit<Agent, "asTool"> {
  asTool(options?: CalledOptions): CalledAgent;
  readonly "~agent": { readonly options: AnyAgentOptions; readonly place: CallSite | undefined };
}

export const isCodeAgent = (value: unknown): value is CodeAgent =>
  typeof value === "object" && value !== null && "~agent" in value;

interface CalledOptions {
  readonly name: string;
  readonly description?: string;
  readonly context?: (caller: unknown) => unknown;
}

/** An agent as a tool: the plugin `agent` under its own name. */
export interface CalledAgent extends Tool {
  readonly "~calls": {
    readonly agent: CodeAgent;
    readonly options: CalledOptions;
    readonly place: CallSite | undefined;
  };
}

export const isCalledAgent = (value: unknown): value is CalledAgent =>
  typeof value === "object" && value !== null && "~calls" in value;

const calledAgent = (called: CodeAgent, options: CalledOptions): CalledAgent => ({
  kind: "tool",
  name: options.name,
  description: options.description ?? called["~agent"].options.description ?? "",
  call: async () => {
    const message = `${options.name} starts a run of ${called.name}; call it through an agent`;
    throw new VenturiError("tool.call", "invalid_input", message);
  },
  "~calls": { agent: called, options, place: called["~agent"].place },
});
