import { z } from "zod";
import { Measured } from "./scoring/run-set.ts";

/** Stored next to a live run: the result of its shadow on another model. */
export const ShadowNote = z.object({
  /** Entry of `models` with the shadow, and the model used. */
  model: z.string(),
  by: z.string(),
  at: z.number(),
  /** Scores of the live run and of the shadow, by the same scorers. */
  live: Measured,
  shadow: Measured,
});
export type ShadowNote = z.output<typeof ShadowNote>;
