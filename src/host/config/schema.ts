import { z } from "zod";
import { Price } from "../../core/model/prices.ts";
import { GuardAction } from "../../core/run/guard-verdict.ts";
import { Duration, Size } from "../../core/values/units.ts";
import { AgentSettings, DefaultSettings, ModelSettings } from "./agents.ts";
import { BudgetSettings } from "./budgets.ts";
import { LimitSettings, ServerSettings } from "./server.ts";
import { TelemetrySettings } from "./telemetry.ts";

const off = new Set(["", "false", "off", "no", "0"]);
export const isEnabled = (value: unknown): boolean => !off.has(String(value).trim().toLowerCase());

const common = {
  type: z.string().describe("Name of the plugin."),
  enabled: z
    .union([z.boolean(), z.string()])
    .prefault(true)
    .transform(isEnabled)
    .describe('Disabled when false or empty, so `enabled: "${env:SOME_KEY:-}"` means "when SOME_KEY is set".'),
};

/** Keys every entry of a kind accepts, besides its plugin's options. */
export const entryKeys = {
  provider: z.looseObject(common),
  tool: z.looseObject({
    ...common,
    approval: z
      .union([
        z.enum(["always", "once", "never"]),
        z.strictObject({
          when: z
            .string()
            .optional()
            .describe(
              'CEL condition, such as `amount > 100 && currency != "EUR"`; a missing value or one of another type asks. Default: always.',
            ),
          show: z
            .array(
              z
                .string()
                .refine(
                  (path) => path.startsWith("args.") || path.startsWith("metadata."),
                  "args.NAME or metadata.NAME",
                ),
            )
            .max(10)
            .optional()
            .describe(
              "Values highlighted for the person who decides, such as `[args.order, args.amount, metadata.customer]`.",
            ),
        }),
      ])
      .optional()
      .describe(
        "Ask a person first: `always`; `once`, until a person has allowed the tool for this run; `never`; or when a condition on the arguments holds.",
      ),
    timeout: Duration.optional().describe("Timeout of a call."),
    maxOutput: Size.optional().describe("Maximum characters of its output sent to the model."),
    effect: z
      .enum(["pure", "idempotent", "effectful"])
      .optional()
      .describe("Overrides the tool's own effect; decides when it may start and whether it is repeated after a crash."),
  }),
  channel: z.looseObject({
    ...common,
    type: common.type.optional().describe("Name of the plugin; `channel-KEY` when absent."),
  }),
  guard: z.looseObject({
    ...common,
    input: GuardAction.optional().describe("Action for findings in user input."),
    arguments: GuardAction.optional().describe("Action for findings in tool arguments."),
    results: GuardAction.optional().describe("Action for findings in tool results."),
    output: GuardAction.optional().describe(
      "Action for findings in the model's answer and reasoning, while streaming.",
    ),
  }),
  memory: z.looseObject({
    ...common,
    embed: z
      .string()
      .regex(/^[^/]+\/.+$/, "expected provider/model")
      .optional()
      .describe("`provider/model` for embeddings of notes and queries; without it they are compared by words."),
    near: z
      .number()
      .min(0)
      .max(1)
      .prefault(0.2)
      .describe("Minimum cosine similarity for a match; depends on the model."),
    longest: z.number().int().min(1).max(64_000).prefault(4_000).describe("Maximum characters of a note."),
    most: z.number().int().min(1).max(100_000).prefault(10_000).describe("Maximum notes per session, user or agent."),
    timeout: Duration.prefault("5s").describe("Timeout of a put or search."),
  }),
  journal: z.looseObject({
    ...common,
    keepWire: z
      .union([z.boolean(), z.literal("asked")], { error: "write true, false or asked" })
      .prefault(false)
      .describe(
        "Record the raw bytes of every provider stream, for `venturi replay` and the console; `asked`: only for runs whose metadata has `keepWire: true`.",
      ),
    retention: z
      .strictObject({
        age: Duration.optional().describe("Remove ended runs older than this."),
        count: z.number().int().positive().optional().describe("Keep at most this many ended runs."),
      })
      .optional()
      .describe("What to prune; default: nothing."),
  }),
};

const name = (pattern: RegExp, what: string) =>
  z.string().regex(pattern, `this name has characters other than ${what}`);
/** Clients use an agent's name as a model name, and those contain slashes, colons and versions. */
const agentName = name(/^[A-Za-z0-9][A-Za-z0-9_.@:/-]*$/, "letters, digits, _, ., @, :, / and -");
const entryName = name(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, "letters, digits, _, . and -");
// Tool names reach models; every vendor accepts this pattern.
const toolName = name(/^[A-Za-z0-9_-]{1,64}$/, "letters, digits, _ and - (at most 64)");

/** Options of the channel `time`, which validates them. */
const section = (description: string) => z.record(entryName, z.looseObject({})).exactOptional().describe(description);

/** The configuration's keys. Plugin entries are validated against their plugin's options afterwards. */
export const Settings = z.strictObject({
  version: z.literal(1, { error: "this Venturi reads version 1" }).prefault(1).describe("Version of the format."),
  include: z.array(z.string()).optional().describe("Files or patterns merged into this one, relative to it."),
  plugins: z
    .array(z.string())
    .prefault([])
    .describe("Plugins beyond the built-in ones: a path (./my-plugin) or an npm package."),
  dataFolder: z.string().prefault("./data").describe("Folder for the running service's files, relative to this file."),
  datasets: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Folder for datasets that runs are added to in the console and over HTTP, relative to this file; see docs/evals.md.",
    ),
  providers: z.record(entryName, entryKeys.provider).prefault({}).describe("Model providers, by the name models use."),
  defaults: DefaultSettings.prefault({}).describe("Defaults for models, agents and calls."),
  models: z
    .record(entryName, ModelSettings)
    .prefault({})
    .describe("Models that agents name: chains with failover, retries and timeouts."),
  prices: z
    .record(z.string(), Price)
    .prefault({})
    .describe(
      "Prices by `provider/model`, in USD per million tokens; `*` in a name matches any characters. Added to the included list, `config/prices.yaml`.",
    ),
  budgets: z
    .record(entryName, BudgetSettings)
    .prefault({})
    .describe("Spending limits, checked before each generation; see docs/money.md."),
  tools: z.record(toolName, entryKeys.tool).prefault({}).describe("Tools, by the name agents and models use."),
  guards: z
    .record(entryName, entryKeys.guard)
    .prefault({})
    .describe("Guards (guardrails) by name; agents list those that check their runs; see docs/guards.md."),
  memories: z
    .record(entryName, entryKeys.memory)
    .prefault({})
    .describe("Stores of notes that agents recall, by name; see docs/memory.md."),
  agents: z.record(agentName, AgentSettings).prefault({}).describe("Agents: instructions, model, tools and limits."),
  journal: entryKeys.journal
    .prefault({ type: "sqlite", path: "./data/venturi.db" })
    .describe("Where runs are stored. Needs a restart."),
  channels: z
    .record(entryName, entryKeys.channel)
    .prefault({ http: {}, openai: {}, websocket: {} })
    .describe("How clients reach the agents."),
  schedules: section("Runs that start by the clock, by name. Short for `channels.time.schedules`. Needs a restart."),
  webhooks: section("Receivers notified about runs, by name. Short for `channels.time.webhooks`. Needs a restart."),
  hooks: section(
    "Signed deliveries of other systems that start runs, by name. Short for `channels.time.hooks`. Needs a restart.",
  ),
  server: ServerSettings.prefault({}).describe("The HTTP server."),
  telemetry: TelemetrySettings.prefault({}).describe(
    "Telemetry: what is measured and where it is sent; `off` disables it.",
  ),
  limits: LimitSettings.prefault({}).describe("Limits of the service."),
});
export type Settings = z.output<typeof Settings>;
