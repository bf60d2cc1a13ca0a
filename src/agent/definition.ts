import type { Hooks } from "../core/hooks.ts";
import type { CacheMode, GenerationOptions, Provider, Timeouts } from "../core/provider.ts";
import type { Tool } from "../core/tool.ts";

/** One model of one provider. `name` is `provider/model`, as the config and the events spell it. */
export interface ModelTarget {
  readonly name: string;
  readonly provider: string;
  readonly model: string;
  readonly port: Provider;
}

export interface ModelChain {
  readonly name: string;
  /** Tried in order. */
  readonly targets: readonly ModelTarget[];
  readonly failover: "beforeFirstEvent" | "retract" | "never";
  readonly retry: { readonly max: number };
  /** Without `firstChunk` the provider says how long its first chunk may take. */
  readonly timeout: Omit<Timeouts, "firstChunk"> & { readonly firstChunk?: number | undefined };
  readonly cache?: CacheMode;
  readonly options: GenerationOptions;
  /** Merged over `options` when tools are offered. */
  readonly toolOptions: GenerationOptions;
  /** Tokens the model can take in; compaction keeps the conversation below it. */
  readonly contextTokens: number | undefined;
}

export interface Limits {
  readonly maxToolRounds: number;
  readonly onLimit: "finish" | "error";
  /** Tool calls per run and per round. */
  readonly maxToolCalls: number;
  readonly maxCallsPerRound: number;
  readonly tokens: number | undefined;
  /** Tokens that its generations may produce. */
  readonly outputTokens: number;
  /** Characters that its generations may produce: text, reasoning, arguments and parts. */
  readonly outputBytes: number;
  /** The same for one generation. */
  readonly generationBytes: number;
  /** Wall time, ms. */
  readonly time: number | undefined;
}

export interface ToolPolicy {
  readonly dispatch: "eager" | "round";
  readonly concurrency: number;
  readonly onError: "feedback" | "abort";
  /** Default for tools that do not say, ms. */
  readonly timeout: number;
  /** How long a cancelled tool may go on before it is left behind, ms. */
  readonly grace: number;
  /** Characters of output told to the model. */
  readonly maxOutput: number;
  /** How long an approval may take, ms. */
  readonly approvalTimeout: number;
  /** An effectful tool found started and unfinished after a crash: ask a person, or fail it with `conflict`. */
  readonly onUncertain: "ask" | "fail";
}

export interface Overrides {
  /** Models instead of the agent's, by the name the config gives them. */
  readonly models: ReadonlyMap<string, ModelChain>;
  /** Keys of the vendor's request body, beside the named options. */
  readonly options: ReadonlySet<string>;
}

export interface AgentDefinition {
  readonly name: string;
  readonly description: string | undefined;
  /** Other names that clients may call it by. */
  readonly aliases: readonly string[];
  readonly instructions: string;
  /** JSON Schemas of the input variables, by name. A variable without a `default` is required. */
  readonly inputs: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly model: ModelChain;
  /** Generation options of the config's `defaults`, and the agent's own. */
  readonly defaults: GenerationOptions;
  readonly options: GenerationOptions;
  /** What a single call may choose for itself. */
  readonly overrides: Overrides;
  /** Asked at the start of each round, so that a source's new tools are seen. */
  readonly tools: () => readonly Tool[];
  readonly limits: Limits;
  readonly toolPolicy: ToolPolicy;
  /** JSON Schema of the answer. */
  readonly output: Readonly<Record<string, unknown>> | undefined;
  /** A second run on a busy session waits its turn or is refused. */
  readonly whenBusy: "wait" | "conflict";
  readonly hooks: readonly Hooks[];
  /** Hash of the config this was built from. */
  readonly config: string;
}

export const defaultLimits: Limits = {
  maxToolRounds: 10,
  onLimit: "finish",
  maxToolCalls: 64,
  maxCallsPerRound: 32,
  tokens: undefined,
  outputTokens: 4_000_000,
  outputBytes: 32 * 1024 * 1024,
  generationBytes: 8 * 1024 * 1024,
  time: 24 * 3_600_000,
};

export const defaultToolPolicy: ToolPolicy = {
  dispatch: "eager",
  concurrency: 8,
  onError: "feedback",
  timeout: 60_000,
  grace: 1_000,
  maxOutput: 64_000,
  approvalTimeout: 24 * 3_600_000,
  onUncertain: "ask",
};

export const defaultTimeouts: Timeouts = { connect: 3_000, firstChunk: 20_000, idle: 300_000, total: 1_800_000 };
