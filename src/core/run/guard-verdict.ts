import { z } from "zod";

/** Where a text is looked at: what people send, what the model calls tools with, what tools give, what the model says. */
export const guardDirections = ["input", "arguments", "results", "output"] as const;
export type GuardDirection = (typeof guardDirections)[number];

/** `block`: it goes no further. `redact`: a mask stands in for it. `ask`: a person decides. `log`: it is only noted. */
export const GuardAction = z.enum(["block", "redact", "ask", "log"]);
export type GuardAction = z.output<typeof GuardAction>;
export type GuardActions = { readonly [Direction in GuardDirection]?: GuardAction | undefined };

/** A decision about a text, never the text. `pass`: a judge had nothing against it. */
export const GuardVerdict = z.strictObject({
  /** Its entry in the configuration. */
  guard: z.string(),
  direction: z.enum(guardDirections),
  action: z.enum([...GuardAction.options, "pass"]),
  rule: z.string().exactOptional(),
  /** How many findings of the rule this is about. */
  count: z.number().int().exactOptional(),
  /** The judge's words. */
  reason: z.string().exactOptional(),
});
export type GuardVerdict = z.output<typeof GuardVerdict>;
