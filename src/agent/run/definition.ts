import type { NativeGrants } from "../../core/model/native-rules.ts";
import type { CacheMode, GenerationOptions, Provider, Timeouts } from "../../core/model/provider.ts";
import type { ActiveGuard } from "../../core/ports/guard.ts";
import type { Hooks } from "../../core/ports/hooks.ts";
import type { Notes } from "../../core/ports/notes.ts";
import type { Tool } from "../../core/ports/tool.ts";
import type { MemoryScope } from "../../core/run/memory-events.ts";
import type { Schema } from "../../core/values/schema.ts";
import type { MemberLimits } from "./members.ts";
import type { Skill } from "./skills.ts";

/** One model of one provider. `name` is `provider/model`, as in config and events. */
export interface ModelTarget {
  readonly name: string;
  readonly provider: string;
  readonly model: string;
  readonly port: Provider;
  /** Settings of this model within its chain. */
  readonly member?: MemberSettings;
}

export interface MemberSettings extends MemberLimits {
  /** Relative share for weighted choice; default 1. */
  readonly weight?: number | undefined;
  /** A request that does not fit goes to the next model of the chain. */
  readonly contextTokens?: number | undefined;
}

/** How a chain picks the model of a generation; the others follow when it fails. */
export const choices = ["order", "weighted", "fastest", "cheapest", "leastBusy"] as const;

export interface Routing {
  readonly choose: (typeof choices)[number];
  /** Whether a conversation stays with the model that last answered it. */
  readonly sticky: boolean;
  /** A second model is asked when the first has been silent for this long, ms. */
  readonly hedgeAfter?: number | undefined;
}

export interface SplitMember {
  readonly name: string;
  readonly weight: number;
  readonly chain: ModelChain;
}

export interface ModelChain {
  readonly name: string;
  /** In configuration order, which is the order of attempts unless `routing` says otherwise. */
  readonly targets: readonly ModelTarget[];
  readonly routing?: Routing;
  readonly failover: "beforeFirstEvent" | "retract" | "never";
  readonly retry: { readonly max: number; readonly longestWait?: number };
  /** Without `firstChunk`, the provider's default applies. */
  readonly timeout: Omit<Timeouts, "firstChunk"> & { readonly firstChunk?: number | undefined };
  readonly cache?: CacheMode;
  readonly options: GenerationOptions;
  /** Merged over `options` when tools are offered. */
  readonly toolOptions: GenerationOptions;
  /** The model's context window in tokens; compaction keeps the conversation below it. */
  readonly contextTokens: number | undefined;
  /** Used instead once a budget is exhausted. */
  readonly economy?: ModelChain;
  /** The chain is a split: each session gets one of these, chosen before the run begins; `targets` lists the models of all. */
  readonly split?: readonly SplitMember[];
  /** Set on the chain that a split chose for the session. */
  readonly chosen?: { readonly of: string; readonly member: string; readonly reason: string };
  /** A share of its runs is repeated on another model after they end. */
  readonly shadow?: { readonly model: ModelChain; readonly share: number };
}

export interface Limits {
  readonly maxToolRounds: number;
  readonly onLimit: "finish" | "error";
  /** Tool calls per run and per round. */
  readonly maxToolCalls: number;
  readonly maxCallsPerRound: number;
  readonly tokens: number | undefined;
  /** Tokens the run's generations may produce. */
  readonly outputTokens: number;
  /** Characters the run's generations may produce: text, reasoning, arguments and other parts. */
  readonly outputBytes: number;
  /** The same for one generation. */
  readonly generationBytes: number;
  /** Wall time, ms. */
  readonly time: number | undefined;
}

/** What happens when the conversation fills the model's context. */
export interface Compaction {
  readonly by: "summary" | "drop";
  /** Share of `contextTokens` at which compaction starts. */
  readonly at: number;
  /** Number of newest messages a summary leaves unchanged. */
  readonly keep: number;
  /** Writes the summaries; default: the agent's model. */
  readonly model?: ModelChain;
  /** What a summary must keep in addition to the defaults. */
  readonly instructions?: string;
  /** Results older than this many rounds are sent as references. */
  readonly results?: number;
}

/** Notes added to the conversation when a run begins. */
export interface Recall {
  readonly notes: Notes;
  readonly scopes: readonly MemoryScope[];
  /** Maximum number of notes. */
  readonly top: number;
}

export const defaultCompaction: Compaction = { by: "drop", at: 0.8, keep: 6 };

export interface ToolPolicy {
  readonly dispatch: "eager" | "round";
  readonly concurrency: number;
  readonly onError: "feedback" | "abort";
  /** Default for tools without a timeout, ms. */
  readonly timeout: number;
  /** How long a cancelled tool may continue before it is abandoned, ms. */
  readonly grace: number;
  /** Characters of output sent to the model. */
  readonly maxOutput: number;
  /** Approval timeout, ms. */
  readonly approvalTimeout: number;
  /** Policy for an effectful call found started but unfinished after a crash: ask a person, or fail it with `conflict`. */
  readonly onUncertain: "ask" | "fail";
  /** With more tools than this, the model is only offered those it finds with `find_tools`. */
  readonly defer?: { readonly above: number } | undefined;
}

export interface Overrides extends NativeGrants {
  /** Models a call may select, by config name. */
  readonly models: ReadonlyMap<string, ModelChain>;
  /** Keys allowed in the vendor's request body, beyond the named options. */
  readonly options: ReadonlySet<string>;
}

/** Context that callers pass to an agent's tools and hooks. */
export interface ContextSource {
  /** Validates what is stored with the run. */
  readonly schema: Schema;
  /** Creates what tools and hooks receive, once per attempt, on the worker that executes it. Disposed with the attempt. */
  provide?(
    stored: unknown,
    about: { readonly run: string; readonly agent: string; readonly signal: AbortSignal },
  ): unknown;
}

/** Writes the instructions of one run. */
export type InstructionsFunction = (given: {
  readonly inputs: unknown;
  readonly context: unknown;
}) => string | Promise<string>;

export interface AgentDefinition {
  readonly name: string;
  readonly description: string | undefined;
  /** Other names clients may use for it. */
  readonly aliases: readonly string[];
  readonly instructions: string;
  /** Replaces `instructions`. Called once per run; its result is stored with the run. */
  readonly writeInstructions?: InstructionsFunction;
  readonly context?: ContextSource;
  /** JSON Schemas of the input variables, by name. A variable without a `default` is required. */
  readonly inputs: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Checks all input variables together, in place of the schemas in `inputs`. */
  readonly inputsSchema?: Schema;
  readonly model: ModelChain;
  /** Generation options from the config's `defaults` and from the agent. */
  readonly defaults: GenerationOptions;
  readonly options: GenerationOptions;
  /** What a call may override. */
  readonly overrides: Overrides;
  /** Evaluated at the start of each round, to pick up changes of tool sources. */
  readonly tools: () => readonly Tool[];
  /** Sorted by name; `read_skill` is among the tools. */
  readonly skills?: readonly Skill[];
  readonly limits: Limits;
  readonly toolPolicy: ToolPolicy;
  /** `defaultCompaction` when absent. */
  readonly compaction?: Compaction;
  /** Searched with the user's message before the first round. */
  readonly recall?: Recall;
  /** JSON Schema of the answer. */
  readonly output: Readonly<Record<string, unknown>> | undefined;
  /** Checks the answer beyond what JSON Schema can say. */
  readonly outputSchema?: Schema;
  /** Whether a second run on a busy session queues or is refused. */
  readonly whenBusy: "wait" | "conflict";
  readonly hooks: readonly Hooks[];
  /** Their hooks are included in `hooks`; user input is screened before it is stored. */
  readonly guards?: readonly ActiveGuard[];
  /** Hash of the config this was built from. */
  readonly config: string;
  /** Hash of what models and the journal see of this agent. */
  readonly revision: string;
}

export const defaultTimeouts: Timeouts = { connect: 3_000, firstChunk: 20_000, idle: 300_000, total: 1_800_000 };
