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
    .describe('Left out when false or empty, so `enabled: "${env:SOME_KEY:-}"` means "when SOME_KEY is set".'),
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
              'In CEL, such as `amount > 100 && currency != "EUR"`; a value that is missing or of another type asks. Always when absent.',
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
              "What the person who is asked sees first, such as `[args.order, args.amount, metadata.customer]`.",
            ),
        }),
      ])
      .optional()
      .describe(
        "Ask a person first: `always`; `once`, until a person has allowed the tool for this run; `never`; or when a condition on the arguments holds.",
      ),
    timeout: Duration.optional().describe("How long one call may take."),
    maxOutput: Size.optional().describe("Characters of its output that the model gets."),
    effect: z
      .enum(["pure", "idempotent", "effectful"])
      .optional()
      .describe(
        "Overrides what the tool says of itself; decides when it may start and whether it is repeated after a crash.",
      ),
  }),
  channel: z.looseObject({
    ...common,
    type: common.type.optional().describe("Name of the plugin; `channel-KEY` when absent."),
  }),
  guard: z.looseObject({
    ...common,
    input: GuardAction.optional().describe("What becomes of findings in what people send."),
    arguments: GuardAction.optional().describe("In the arguments that the model calls tools with."),
    results: GuardAction.optional().describe("In what tools give the model."),
    output: GuardAction.optional().describe("In what the model says and thinks, while it streams."),
  }),
  memory: z.looseObject({
    ...common,
    embed: z
      .string()
      .regex(/^[^/]+\/.+$/, "expected provider/model")
      .optional()
      .describe("`provider/model` that makes vectors of notes and queries; without it they are compared by words."),
    near: z
      .number()
      .min(0)
      .max(1)
      .prefault(0.2)
      .describe("Least cosine of two vectors that counts as near; models differ."),
    longest: z.number().int().min(1).max(64_000).prefault(4_000).describe("Characters of a note."),
    most: z.number().int().min(1).max(100_000).prefault(10_000).describe("Notes of one session, user or agent."),
    timeout: Duration.prefault("5s").describe("How long a put or a search may take."),
  }),
  journal: z.looseObject({
    ...common,
    keepWire: z
      .union([z.boolean(), z.literal("asked")], { error: "write true, false or asked" })
      .prefault(false)
      .describe(
        "Keep the raw bytes of every provider stream, for `venturi replay` and the console; `asked`: only of runs whose metadata has `keepWire: true`.",
      ),
    retention: z
      .strictObject({
        age: Duration.optional().describe("Remove ended runs older than this."),
        count: z.number().int().positive().optional().describe("Keep at most this many ended runs."),
      })
      .optional()
      .describe("What is pruned; everything is kept when absent."),
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
  dataFolder: z
    .string()
    .prefault("./data")
    .describe("Where the running service keeps its files, relative to this file."),
  providers: z.record(entryName, entryKeys.provider).prefault({}).describe("Model providers, by the name models use."),
  defaults: DefaultSettings.prefault({}).describe("What holds unless a model, an agent or a call says otherwise."),
  models: z
    .record(entryName, ModelSettings)
    .prefault({})
    .describe("Models that agents name: chains with failover, retries and timeouts."),
  prices: z
    .record(z.string(), Price)
    .prefault({})
    .describe(
      "What models cost, by `provider/model`, in USD per million tokens; `*` in a name stands for any characters. Beside it holds the list that comes with Venturi, `config/prices.yaml`.",
    ),
  budgets: z
    .record(entryName, BudgetSettings)
    .prefault({})
    .describe("What may be spent, checked before each generation; see docs/money.md."),
  tools: z.record(toolName, entryKeys.tool).prefault({}).describe("Tools, by the name agents and models use."),
  guards: z
    .record(entryName, entryKeys.guard)
    .prefault({})
    .describe("What must not pass, by name: agents list the guards that look at their runs; see docs/guards.md."),
  memories: z
    .record(entryName, entryKeys.memory)
    .prefault({})
    .describe("Stores of notes that agents recall, by name; see docs/memory.md."),
  agents: z.record(agentName, AgentSettings).prefault({}).describe("Agents: instructions, model, tools and limits."),
  journal: entryKeys.journal
    .prefault({ type: "sqlite", path: "./data/venturi.db" })
    .describe("Where runs are kept. Needs a restart."),
  channels: z
    .record(entryName, entryKeys.channel)
    .prefault({ http: {}, openai: {}, websocket: {} })
    .describe("How clients reach the agents."),
  schedules: section("Runs that start by the clock, by name. Short for `channels.time.schedules`. Needs a restart."),
  webhooks: section("Receivers that are told of runs, by name. Short for `channels.time.webhooks`. Needs a restart."),
  hooks: section(
    "Signed deliveries of other systems that start runs, by name. Short for `channels.time.hooks`. Needs a restart.",
  ),
  server: ServerSettings.prefault({}).describe("The HTTP server."),
  telemetry: TelemetrySettings.prefault({}).describe("What is measured, and where it goes; `off` for nothing."),
  limits: LimitSettings.prefault({}).describe("What the service takes on."),
});
export type Settings = z.output<typeof Settings>;
