import { z } from "zod";
import { readSchema } from "../../agent/schema/json-schema.ts";
import { patternOf } from "../../agent/schema/pattern.ts";
import { messageOf } from "../../core/errors/errors.ts";
import { RunInput } from "../../core/run/event-fields.ts";
import { Unanswered } from "../../core/run/unanswered.ts";
import { momentIn } from "../../core/values/moment.ts";
import { Duration } from "../../core/values/units.ts";

const text = z.string().min(1);
/** Of sets, items, scorers and results. */
export const name = z.string().regex(/^[\w.-]{1,100}$/, "letters, digits, _, . and - (at most 100)");

/** Compiled now, so that a mistake is reported with its position and nothing is run in part. */
const pattern = z.string().superRefine((source, context) => readable(() => patternOf(source), context));
const jsonSchema = z
  .record(z.string(), z.unknown())
  .superRefine((schema, context) => readable(() => readSchema(schema), context));

function readable(read: () => unknown, context: z.core.$RefinementCtx<unknown>): void {
  try {
    read();
  } catch (thrown) {
    context.addIssue({ code: "custom", message: messageOf(thrown) });
  }
}

const moment = z.union([
  Duration.transform((ms) => ({ ago: ms })),
  z
    .string()
    .transform((date) => ({ at: momentIn(date) ?? Number.NaN }))
    .refine(({ at }) => !Number.isNaN(at), "neither a duration such as 7d nor a date such as 2026-11-17"),
]);

/** Selects runs of the journal that match all of this. */
const Selection = z.strictObject({
  agent: text.exactOptional(),
  session: text.exactOptional(),
  tenant: text.exactOptional(),
  tool: text.exactOptional(),
  model: text.exactOptional(),
  code: text.exactOptional(),
  outcome: z.enum(["finished", "failed"]).exactOptional(),
  since: moment.exactOptional(),
  until: moment.exactOptional(),
  label: text.exactOptional(),
  minScore: z.number().exactOptional(),
  maxScore: z.number().exactOptional(),
  ratedBy: text.exactOptional(),
  limit: z.number().int().min(1).max(10_000).default(100),
});

const Expected = z.strictObject({
  output: z.string().exactOptional(),
  regex: pattern.exactOptional(),
  json: z.json().exactOptional(),
  schema: jsonSchema.exactOptional(),
  calls: z
    .array(z.strictObject({ name: text, arguments: z.record(z.string(), z.unknown()).default({}) }))
    .exactOptional(),
});
export type Expected = z.output<typeof Expected>;

const common = { id: name.exactOptional(), note: z.string().exactOptional(), expect: Expected.exactOptional() };

/** Kinds of entries, by the key that distinguishes them. */
export const itemKinds = {
  run: z.strictObject({ run: text, ...common }),
  runs: z.strictObject({ runs: Selection, expect: Expected.exactOptional(), note: z.string().exactOptional() }),
  file: z.strictObject({ file: text, ...common }),
  input: z.strictObject({
    input: z.union([text.transform((said) => ({ text: said })), RunInput]),
    agent: text.exactOptional(),
    ...common,
  }),
};
export type ItemKind = keyof typeof itemKinds;
export type Item = { readonly [K in ItemKind]: z.output<(typeof itemKinds)[K]> }[ItemKind];

const named = { name: name.exactOptional() };
const most = { ...named, max: z.number().positive() };
const scorerKinds = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("exact"), ...named }),
  z.strictObject({ type: z.literal("json"), ...named }),
  z.strictObject({
    type: z.literal("schema"),
    ...named,
    schema: jsonSchema.exactOptional(),
  }),
  z.strictObject({ type: z.literal("regex"), ...named, pattern: pattern.exactOptional() }),
  z.strictObject({ type: z.literal("calls"), ...named }),
  z.strictObject({ type: z.literal("tools"), ...named, only: z.array(z.string()) }),
  z.strictObject({ type: z.literal("latency"), ...named, max: Duration }),
  z.strictObject({ type: z.literal("tokens"), ...most }),
  z.strictObject({ type: z.literal("cost"), ...most }),
  z.strictObject({ type: z.literal("module"), ...named, path: text }),
  z.strictObject({
    type: z.literal("judge"),
    ...named,
    agent: text,
    rubric: text,
    pairwise: z.boolean().default(false),
  }),
]);
export const Scorer = z.preprocess((given) => (typeof given === "string" ? { type: given } : given), scorerKinds);
export type Scorer = z.output<typeof scorerKinds>;

const Threshold = z.strictObject({
  min: z.number().min(0).max(1).exactOptional().describe("of the mean"),
  drop: z.number().min(0).max(1).exactOptional().describe("that the mean may lose against the baseline"),
});

/** Settings of the whole set; in JSON lines, the line with `venturi: dataset`. */
export const Settings = z.strictObject({
  venturi: z.literal("dataset").exactOptional(),
  name: name.exactOptional(),
  agent: text.exactOptional(),
  unanswered: Unanswered.default("fail"),
  scorers: z.array(Scorer).min(1).exactOptional(),
  thresholds: z.record(z.string(), Threshold).default({}),
});
export type Settings = z.output<typeof Settings>;
