import { z } from "zod";
import { parseFaults } from "./faults.ts";

const words = z
  .union([z.string(), z.array(z.string())])
  .describe("A string goes out word by word, a list item by item.");

const areFaults = (value: string, context: z.RefinementCtx): void => {
  try {
    parseFaults(value);
  } catch (thrown) {
    context.addIssue({ code: "custom", message: thrown instanceof Error ? thrown.message : "is no fault" });
  }
};

export const Faults = z.string().superRefine(areFaults);

const faults = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === "string" ? value : value.join(",")))
  .superRefine(areFaults);

const pattern = z.string().superRefine((value, context) => {
  try {
    new RegExp(value, "iu");
  } catch (thrown) {
    context.addIssue({ code: "custom", message: thrown instanceof Error ? thrown.message : "is no pattern" });
  }
});

export const ScenarioCall = z.strictObject({
  name: z.string().min(1),
  id: z.string().optional(),
  arguments: z
    .union([z.record(z.string(), z.unknown()), z.string()])
    .default({})
    .describe("An object, or the text itself, which need be no JSON."),
  fragments: z
    .union([z.int().min(1), z.array(z.string())])
    .optional()
    .describe("Characters per fragment, or the fragments themselves in place of the arguments."),
});

const count = z.int().min(0);

export const ScenarioTurn = z.strictObject({
  reasoning: words.optional(),
  text: words.optional(),
  refusal: words.optional(),
  calls: z.array(ScenarioCall).default([]),
  interleave: z.boolean().default(false).describe("Fragments of the calls take turns."),
  stamp: z.boolean().default(false).describe("Every piece of text begins with the time of its writing, epoch µs."),
  finish: z.enum(["stop", "tool_calls", "length", "content_filter", "refusal"]).optional(),
  usage: z
    .union([
      z.literal("none"),
      z.strictObject({
        inputTokens: count,
        outputTokens: count,
        cacheReadTokens: count.exactOptional(),
        reasoningTokens: count.exactOptional(),
      }),
    ])
    .optional(),
  pace: z.number().min(0).optional(),
  faults: faults.default(""),
  error: z
    .strictObject({
      status: z.int().min(400).max(599),
      message: z.string().default("the scenario says so"),
      headers: z.record(z.string(), z.string()).default({}),
    })
    .optional(),
});
export type ScenarioTurn = z.output<typeof ScenarioTurn>;

/** A scripted conversation. */
export const Scenario = z.strictObject({
  name: z.string().min(1),
  match: z
    .strictObject({
      model: z.string().optional().describe("The model's name; * stands for anything."),
      text: pattern.optional().describe("A regular expression for the last thing the user said."),
    })
    .optional()
    .describe("Both must fit. Without it only the scenario's name, as model or in the header, chooses it."),
  advance: z
    .enum(["round", "request"])
    .default("round")
    .describe("Which turn it is: by the answers since the user last spoke, or by the requests so far."),
  turns: z.array(ScenarioTurn).min(1),
});
export type Scenario = z.output<typeof Scenario>;
export type ScenarioInput = z.input<typeof Scenario>;
