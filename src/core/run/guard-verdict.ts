import { z } from "zod";

/** Which texts are inspected: what people send, tool arguments, tool results, and the model's answer. */
export const guardDirections = ["input", "arguments", "results", "output"] as const;
export type GuardDirection = (typeof guardDirections)[number];

/** `block`: refused. `redact`: masked. `ask`: a person decides. `log`: only recorded. */
export const GuardAction = z.enum(["block", "redact", "ask", "log"]);
export type GuardAction = z.output<typeof GuardAction>;
export type GuardActions = { readonly [Direction in GuardDirection]?: GuardAction | undefined };

/** A decision about a text, without the text. `pass`: the judge found nothing wrong. */
export const GuardVerdict = z.strictObject({
  /** The guard's entry in the configuration. */
  guard: z.string(),
  direction: z.enum(guardDirections),
  action: z.enum([...GuardAction.options, "pass"]),
  rule: z.string().exactOptional(),
  /** Number of findings of the rule. */
  count: z.number().int().exactOptional(),
  /** The judge's explanation. */
  reason: z.string().exactOptional(),
});
export type GuardVerdict = z.output<typeof GuardVerdict>;
