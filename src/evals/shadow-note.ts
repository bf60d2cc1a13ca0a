import { z } from "zod";
import { Measured } from "./scoring/run-set.ts";

/** What stands beside a live run that was tried on another model. */
export const ShadowNote = z.object({
  /** Entry of `models` whose shadow it was, and the model it was tried on. */
  model: z.string(),
  by: z.string(),
  at: z.number(),
  /** By the same scorers: the live run, and the other. */
  live: Measured,
  shadow: Measured,
});
export type ShadowNote = z.output<typeof ShadowNote>;
