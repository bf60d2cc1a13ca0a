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
  share: z.number().gt(0, "more than 0").max(1, "at most 1").describe("Share of the runs, chosen by their ids."),
  scorers: z
    .array(Scorer)
    .min(1)
    .prefault(["exact", "calls"])
    .describe("What the two answers are compared by: scorers of an eval. Paths are relative to this file."),
  budget: z
    .strictObject({
      usd: z.number().positive().optional().describe("USD that may be spent."),
      tokens: z.number().int().positive().optional().describe("Tokens, in and out."),
      per: z.enum(["hour", "day", "month"]).prefault("day").describe("In what it may be spent; times are in UTC."),
    })
    .refine(({ usd, tokens }) => usd !== undefined || tokens !== undefined, "a budget needs usd or tokens")
    .prefault({ tokens: 1_000_000 })
    .describe("What its shadow runs may spend, judges included. They count in no other budget."),
});

export const ModelSettings = z.strictObject({
  chain: z
    .array(z.string().regex(/^[^/]+\/.+$/, "expected provider/model"))
    .prefault([])
    .describe("`provider/model` entries, tried in order; those of a disabled provider are left out."),
  split: z
    .record(z.string(), z.number().positive("a weight must be more than 0"))
    .optional()
    .describe(
      "In place of a chain: other entries of `models`, or `provider/model`, with their weights. Each session has one of them, drawn from its name; see docs/money.md.",
    ),
  failover: z
    .enum(["beforeFirstEvent", "retract", "never"])
    .prefault("beforeFirstEvent")
    .describe(
      "When the next of the chain takes over: only before anything was shown, also after (retracting it), never.",
    ),
  retry: z
    .strictObject({
      max: count().prefault(2).describe("Tries again on the same model after a retryable failure."),
      longestWait: Duration.prefault("1m").describe(
        "The longest wait a provider may ask for (`retry-after`); past 5s another model of the chain is asked first.",
      ),
    })
    .prefault({})
    .describe("Retries before failing over."),
  timeout: z
    .strictObject({
      connect: Duration.prefault("3s").describe("To connect."),
      firstChunk: Duration.optional().describe(
        "To the first chunk of the answer; 20s when absent, 5m for servers that load a model when it is asked.",
      ),
      idle: Duration.prefault("5m").describe("Between two chunks."),
      total: Duration.prefault("30m").describe("For the whole generation."),
    })
    .prefault({})
    .describe("How long to wait for the provider."),
  options: GenerationOptions.prefault({}).describe(
    "Generation options; a key not named here goes into the request as it is.",
  ),
  toolOptions: GenerationOptions.prefault({}).describe("Merged over `options` when tools are offered."),
  cache: z
    .enum(["auto", "off", "5m", "1h"])
    .prefault("auto")
    .describe(
      "How long the vendor keeps the prompt for the next request: Anthropic's breakpoints, OpenAI's key per session.",
    ),
  contextTokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Tokens the model can take in; older turns are compacted to stay below."),
  choose: z
    .enum(choices)
    .optional()
    .describe(
      "Which of the chain is asked first: the first (`order`, the default), one by its weight, the fastest, cheapest or least busy one. The others follow when it fails.",
    ),
  sticky: z
    .boolean()
    .optional()
    .describe("A conversation stays with the model that answered it last (true), or chooses anew each time (false)."),
  members: z
    .record(
      z.string(),
      z.strictObject({
        weight: z.number().positive().optional().describe("Its share with `choose: weighted`; 1 when absent."),
        contextTokens: z
          .number()
          .int()
          .positive()
          .optional()
          .describe("Tokens it can take in with its answer; what does not fit goes to the next that can."),
        concurrency: z.number().int().positive().optional().describe("Generations at a time, in each process."),
        tokensPerMinute: z.number().int().positive().optional().describe("Tokens per minute, in each process."),
      }),
    )
    .optional()
    .describe("What holds for one of the chain alone, by its `provider/model`."),
  hedge: z
    .strictObject({ after: Duration.describe("How long the first may be silent.") })
    .optional()
    .describe("Ask a second model when the first is silent; who answers first goes on, the other is cancelled."),
  responses: z
    .strictObject({
      ttl: Duration.describe("How long an answer is given again."),
      tenants: z
        .union([z.literal("all"), z.array(z.string()).min(1)])
        .describe("Tenants whose answers are cached, or `all`. They never share answers."),
      replay: z
        .enum(["atOnce", "rhythm"])
        .prefault("atOnce")
        .describe("All at once, or at the rhythm in which the model wrote it."),
    })
    .optional()
    .describe("Give the answer to exactly the same request again, without asking the model."),
  economy: z
    .string()
    .optional()
    .describe("Goes on when a budget with `onExceed: cheaper` has run out: an entry of `models`, or `provider/model`."),
  shadow: ShadowSettings.optional().describe(
    "Try some runs again on another model after their end, without their tools' effects and unseen; see docs/evals.md.",
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
  tokens: z.number().int().positive().optional().describe("Tokens, in and out, that a run may use."),
  outputTokens: z.number().int().positive().prefault(4_000_000).describe("Tokens that the model may produce in a run."),
  outputBytes: Size.prefault("32MiB").describe(
    "Characters that the model may produce in a run: text, reasoning, arguments of calls.",
  ),
  generationBytes: Size.prefault("8MiB").describe("Characters that the model may produce in one generation."),
  time: Duration.prefault("24h").describe("Wall time of a run, without the time it waits for people."),
});

export const ToolPolicySettings = z.strictObject({
  defer: z
    .strictObject({ above: count().describe("Tools that are shown as they are.") })
    .optional()
    .describe("With more tools than `above` the model gets `find_tools`, and the tools that it finds."),
  dispatch: z
    .enum(["eager", "round"])
    .prefault("eager")
    .describe("Start pure and idempotent tools while the model still talks, or all at the end of its answer."),
  concurrency: z.number().int().positive().prefault(8).describe("Tools at the same time."),
  onError: z
    .enum(["feedback", "abort"])
    .prefault("feedback")
    .describe("Report the failure to the model, or end the run."),
  timeout: Duration.prefault("60s").describe("For tools that do not say."),
  grace: Duration.prefault("1s").describe("How long a cancelled tool may go on before it is left behind."),
  maxOutput: Size.prefault(64_000).describe("Characters of an output that the model gets."),
  approvalTimeout: Duration.prefault("24h").describe("How long a person may take to approve."),
  onUncertain: z
    .enum(["ask", "fail"])
    .prefault("ask")
    .describe(
      "An effectful tool found started and unfinished after a crash: ask a person, or fail it with `conflict`.",
    ),
});

const CompactionSettings = z.strictObject({
  by: z
    .enum(["summary", "drop"])
    .prefault("drop")
    .describe("Replace the beginning of the conversation with a summary, or leave out its oldest turns."),
  at: z
    .number()
    .min(0.1)
    .max(0.95)
    .prefault(0.8)
    .describe("Share of the model's `contextTokens` that the conversation may fill before."),
  keep: count().prefault(6).describe("Newest messages that a summary leaves as they are."),
  model: z
    .string()
    .optional()
    .describe("Writes the summaries: an entry of `models`, or `provider/model`; the agent's own when absent."),
  instructions: z.string().optional().describe("What a summary has to keep, beside the usual."),
  results: z
    .strictObject({
      olderThan: count().describe("Rounds of tool calls whose results stay as they are."),
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
  top: z.number().int().min(1).max(mostFound).prefault(5).describe("Notes at most."),
  auto: z.boolean().prefault(true).describe("Search before the first round of each run; false: not now."),
});

const Overrides = z.strictObject({
  models: z
    .array(z.string())
    .prefault([])
    .describe("Models that a call may choose instead of the agent's: entries of `models`, or `provider/model`."),
  options: z
    .array(z.string())
    .prefault([])
    .describe("Keys of the vendor's own request body that a call may set in its `options`, beside the named ones."),
  ...nativeGrants,
});

export const DefaultSettings = z.strictObject({
  options: GenerationOptions.prefault({}).describe(
    "Generation options of every model; `models`, `agents` and calls say more.",
  ),
});

export const AgentSettings = z.strictObject({
  description: z.string().optional().describe("What it is for; shown in lists and to agents that may call it."),
  aliases: z
    .array(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.@:/-]*$/))
    .prefault([])
    .describe("Other names that clients may call it by, such as `gpt-4o` or `openai/gpt-4o`."),
  model: z.string().describe("An entry of `models`, or `provider/model`."),
  instructions: z.string().prefault("").describe("The system prompt; `{{name}}` stands for an input variable."),
  inputs: z
    .record(z.string(), jsonSchema)
    .prefault({})
    .describe("JSON Schemas of the input variables, by name. One without a `default` is required."),
  options: GenerationOptions.prefault({}).describe("Generation options, merged over the model's."),
  overrides: Overrides.prefault({}).describe("What a single call may choose for itself."),
  tools: z.array(z.string()).prefault([]).describe("Entries of `tools` that it may use."),
  guards: z.array(z.string()).prefault([]).describe("Entries of `guards` that look at its runs, in this order."),
  skills: z
    .array(z.string().min(1))
    .prefault([])
    .describe(
      "Folders with a SKILL.md that it may read, or patterns such as `./skills/*`; relative to the config's folder.",
    ),
  handoffs: z
    .array(z.string())
    .prefault([])
    .describe("Agents that it may hand a run to: they go on with the same conversation under the run's limits."),
  limits: RunLimits.prefault({}).describe("What a run may use up."),
  toolPolicy: ToolPolicySettings.prefault({}).describe("How its tools are run."),
  compaction: CompactionSettings.prefault({}).describe(
    "What becomes of a conversation that fills the model's context.",
  ),
  memory: z
    .strictObject({
      recall: RecallSettings.optional().describe("Notes that each run begins with, found by what the person said."),
    })
    .prefault({})
    .describe("What it remembers from earlier runs; see docs/memory.md."),
  output: jsonSchema.optional().describe("JSON Schema of the answer, for structured output."),
  whenBusy: z
    .enum(["wait", "conflict"])
    .prefault("wait")
    .describe("A second run on a busy session waits its turn, or is refused."),
});
export type AgentSettings = z.output<typeof AgentSettings>;
