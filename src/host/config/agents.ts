import { z } from "zod";
import { choices, defaultTimeouts } from "../../agent/run/definition.ts";
import { generationOptions } from "../../core/model/generation-options.ts";
import { mostFound } from "../../core/ports/notes.ts";
import { MemoryScope } from "../../core/run/memory-events.ts";
import { Duration, Size } from "../../core/values/units.ts";
import { Scorer } from "../../evals/dataset/schema.ts";
import { nativeGrants } from "./native-grants.ts";

const jsonSchema = z.record(z.string(), z.unknown());
const count = () => z.number().int().nonnegative();

export const GenerationOptions = z.looseObject(generationOptions);

const ShadowSettings = z.strictObject({
  model: z.string().describe("The other model: an entry of `models`, or `provider/model`."),
  share: z.number().gt(0, "more than 0").max(1, "at most 1").describe("Share of runs to repeat, chosen by their ids."),
  scorers: z
    .array(Scorer)
    .min(1)
    .prefault(["exact", "calls"])
    .describe("Scorers that compare the two answers, as in an eval. Paths are relative to this file."),
  budget: z
    .strictObject({
      usd: z.number().positive().optional().describe("USD that may be spent."),
      tokens: z.number().int().positive().optional().describe("Tokens, in and out."),
      per: z.enum(["hour", "day", "month"]).prefault("day").describe("Period of the budget, in UTC."),
    })
    .refine(({ usd, tokens }) => usd !== undefined || tokens !== undefined, "a budget needs usd or tokens")
    .prefault({ tokens: 1_000_000 })
    .describe("Budget of its shadow runs, including judges. They count in no other budget."),
  stream: z
    .boolean()
    .prefault(false)
    .describe("Request its answers as streams, for vendors that only stream; complete answers take far less CPU."),
});

export const ModelSettings = z.strictObject({
  chain: z
    .array(z.string().regex(/^[^/]+\/.+$/, "expected provider/model"))
    .prefault([])
    .describe("`provider/model` entries, tried in order; those of disabled providers are skipped."),
  split: z
    .record(z.string(), z.number().positive("a weight must be more than 0"))
    .optional()
    .describe(
      "Instead of a chain: other entries of `models`, or `provider/model`, with weights. Each session gets one of them, chosen by its name; see docs/money.md.",
    ),
  failover: z
    .enum(["beforeFirstEvent", "retract", "never"])
    .prefault("beforeFirstEvent")
    .describe(
      "When the next model of the chain takes over: only before output was shown, also after (retracting it), or never.",
    ),
  retry: z
    .strictObject({
      max: count().prefault(2).describe("Retries on the same model after a retryable failure."),
      longestWait: Duration.prefault("1m").describe(
        "The longest wait a provider may ask for (`retry-after`); past 5s another model of the chain is asked first.",
      ),
    })
    .prefault({})
    .describe("Retries before failing over."),
  timeout: z
    .strictObject({
      connect: Duration.prefault("3s").describe("Connecting."),
      firstChunk: Duration.optional().describe(
        "First chunk of the answer; default: 20s, or 5m for servers that load a model on demand.",
      ),
      idle: Duration.prefault("5m").describe("Between two chunks."),
      total: Duration.prefault("30m").describe("For the whole generation."),
    })
    .prefault({})
    .describe("How long to wait for the provider."),
  options: GenerationOptions.prefault({}).describe(
    "Generation options; other keys are sent to the provider unchanged.",
  ),
  toolOptions: GenerationOptions.prefault({}).describe("Merged over `options` when tools are offered."),
  cache: z
    .enum(["auto", "off", "5m", "1h"])
    .prefault("auto")
    .describe("Prompt caching at the vendor: breakpoints for Anthropic, a cache key per session for OpenAI."),
  contextTokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Context window in tokens; older turns are compacted to stay below."),
  choose: z
    .enum(choices)
    .optional()
    .describe(
      "Which model of the chain to ask first: in order (`order`, the default), by weight, the fastest, cheapest or least busy one. The others follow when it fails.",
    ),
  sticky: z.boolean().optional().describe("Whether a conversation stays with the model that last answered it."),
  members: z
    .record(
      z.string(),
      z.strictObject({
        weight: z.number().positive().optional().describe("Relative weight with `choose: weighted`; default 1."),
        contextTokens: z
          .number()
          .int()
          .positive()
          .optional()
          .describe("Context window including the answer; requests that do not fit go to the next model."),
        concurrency: z.number().int().positive().optional().describe("Maximum concurrent generations per process."),
        tokensPerMinute: z.number().int().positive().optional().describe("Maximum tokens per minute and process."),
      }),
    )
    .optional()
    .describe("Settings for single models of the chain, by `provider/model`."),
  hedge: z
    .strictObject({ after: Duration.describe("How long the first model may be silent.") })
    .optional()
    .describe(
      "Ask a second model when the first stays silent; the one that answers first is used, the other is cancelled.",
    ),
  responses: z
    .strictObject({
      ttl: Duration.describe("How long an answer is cached."),
      tenants: z
        .union([z.literal("all"), z.array(z.string()).min(1)])
        .describe("Tenants whose answers are cached, or `all`. They never share answers."),
      replay: z.enum(["atOnce", "rhythm"]).prefault("atOnce").describe("Replay at once, or at the original pace."),
    })
    .optional()
    .describe("Cache answers: repeat the answer to an identical request without asking the model."),
  economy: z
    .string()
    .optional()
    .describe("Used when a budget with `onExceed: cheaper` is exhausted: an entry of `models`, or `provider/model`."),
  shadow: ShadowSettings.optional().describe(
    "Repeat some runs on another model after they end, hidden and without executing tools; see docs/evals.md.",
  ),
});
export type ModelSettings = z.output<typeof ModelSettings>;

export const defaultModel: Omit<ModelSettings, "chain"> = {
  failover: "beforeFirstEvent",
  retry: { max: 2, longestWait: 60_000 },
  timeout: { ...defaultTimeouts, firstChunk: undefined },
  cache: "auto",
  options: {},
  toolOptions: {},
};

export const RunLimits = z.strictObject({
  maxToolRounds: count().prefault(10).describe("Rounds of tool calls before the run must end."),
  onLimit: z.enum(["finish", "error"]).prefault("finish").describe("Finish with the output so far, or fail."),
  maxToolCalls: count().prefault(64).describe("Tool calls in a run."),
  maxCallsPerRound: count().prefault(32).describe("Tool calls in one round."),
  tokens: z.number().int().positive().optional().describe("Input and output tokens that a run may use."),
  outputTokens: z.number().int().positive().prefault(4_000_000).describe("Tokens that the model may produce in a run."),
  outputBytes: Size.prefault("32MiB").describe(
    "Characters that the model may produce in a run: text, reasoning, arguments of calls.",
  ),
  generationBytes: Size.prefault("8MiB").describe("Characters that the model may produce in one generation."),
  time: Duration.prefault("24h").describe("Wall time of a run, without the time it waits for people."),
});

export const ToolPolicySettings = z.strictObject({
  defer: z
    .strictObject({ above: count().describe("Number of tools up to which all are offered.") })
    .optional()
    .describe("With more tools than `above`, the model is offered `find_tools` and the tools it finds."),
  dispatch: z
    .enum(["eager", "round"])
    .prefault("eager")
    .describe("Start pure and idempotent tools while the model is still writing, or all at the end of its answer."),
  concurrency: z.number().int().positive().prefault(8).describe("Maximum concurrent tools."),
  onError: z
    .enum(["feedback", "abort"])
    .prefault("feedback")
    .describe("Report the failure to the model, or end the run."),
  timeout: Duration.prefault("60s").describe("Default timeout of tools."),
  grace: Duration.prefault("1s").describe("How long a cancelled tool may continue before it is abandoned."),
  maxOutput: Size.prefault(64_000).describe("Maximum characters of a tool's output sent to the model."),
  approvalTimeout: Duration.prefault("24h").describe("How long a person may take to approve."),
  onUncertain: z
    .enum(["ask", "fail"])
    .prefault("ask")
    .describe("What to do with an effectful tool that a crash interrupted: ask a person, or fail it with `conflict`."),
});

const CompactionSettings = z.strictObject({
  by: z
    .enum(["summary", "drop"])
    .prefault("drop")
    .describe("Replace the beginning of the conversation with a summary, or drop its oldest turns."),
  at: z
    .number()
    .min(0.1)
    .max(0.95)
    .prefault(0.8)
    .describe("Share of the model's `contextTokens` at which compaction starts."),
  keep: count().prefault(6).describe("Number of newest messages that a summary leaves unchanged."),
  model: z
    .string()
    .optional()
    .describe("Model that writes the summaries: an entry of `models`, or `provider/model`; default: the agent's."),
  instructions: z.string().optional().describe("What a summary must keep in addition to the defaults."),
  results: z
    .strictObject({
      olderThan: count().describe("Number of newest tool rounds whose results are sent in full."),
    })
    .optional()
    .describe("Send older tool results as a reference that the model can read with `read_result`."),
});

const RecallSettings = z.strictObject({
  store: z.string().describe("The entry of `memories` that is searched."),
  scopes: z
    .array(MemoryScope)
    .min(1)
    .prefault(["user"])
    .describe("Whose notes: the run's `session`, its `user`, the `agent`'s own."),
  top: z.number().int().min(1).max(mostFound).prefault(5).describe("Maximum number of notes."),
  auto: z.boolean().prefault(true).describe("Search before the first round of each run."),
});

const Overrides = z.strictObject({
  models: z
    .array(z.string())
    .prefault([])
    .describe("Models a call may choose instead of the agent's: entries of `models`, or `provider/model`."),
  options: z
    .array(z.string())
    .prefault([])
    .describe("Keys of the vendor's request body that a call may set in its `options`, in addition to the named ones."),
  ...nativeGrants,
});

export const DefaultSettings = z.strictObject({
  options: GenerationOptions.prefault({}).describe(
    "Generation options of every model; `models`, `agents` and calls override them.",
  ),
});

export const AgentSettings = z.strictObject({
  description: z.string().optional().describe("Purpose of the agent; shown in lists and to agents that may call it."),
  aliases: z
    .array(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.@:/-]*$/))
    .prefault([])
    .describe("Other names clients may use for it, such as `gpt-4o` or `openai/gpt-4o`."),
  model: z.string().describe("An entry of `models`, or `provider/model`."),
  instructions: z.string().prefault("").describe("The system prompt; `{{name}}` is replaced by an input variable."),
  inputs: z
    .record(z.string(), jsonSchema)
    .prefault({})
    .describe("JSON Schemas of the input variables, by name. One without a `default` is required."),
  options: GenerationOptions.prefault({}).describe("Generation options, merged over the model's."),
  overrides: Overrides.prefault({}).describe("What a single call may override."),
  tools: z.array(z.string()).prefault([]).describe("Entries of `tools` that it may use."),
  guards: z.array(z.string()).prefault([]).describe("Entries of `guards` that check its runs, in this order."),
  skills: z
    .array(z.string().min(1))
    .prefault([])
    .describe(
      "Folders with a SKILL.md that it may read, or patterns such as `./skills/*`; relative to the config's folder.",
    ),
  handoffs: z
    .array(z.string())
    .prefault([])
    .describe("Agents it may hand a run to: they continue the same conversation under the run's limits."),
  limits: RunLimits.prefault({}).describe("Limits of a run."),
  toolPolicy: ToolPolicySettings.prefault({}).describe("How its tools are executed."),
  compaction: CompactionSettings.prefault({}).describe("What to do when a conversation fills the model's context."),
  memory: z
    .strictObject({
      recall: RecallSettings.optional().describe("Notes added at the start of each run, found by the user's message."),
    })
    .prefault({})
    .describe("What it remembers from earlier runs; see docs/memory.md."),
  output: jsonSchema.optional().describe("JSON Schema of the answer, for structured output."),
  whenBusy: z
    .enum(["wait", "conflict"])
    .prefault("wait")
    .describe("Whether a second run on a busy session waits for its turn or is refused."),
});
export type AgentSettings = z.output<typeof AgentSettings>;
