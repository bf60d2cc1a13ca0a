import { z } from "zod";

/** A skill as listed for the model. */
export const ListedSkill = z.strictObject({
  name: z.string(),
  description: z.string(),
  /** SHA-256 over the names and contents of all its files. */
  hash: z.string(),
});
export type ListedSkill = z.output<typeof ListedSkill>;
