import { z } from "zod";
import { named } from "../values/schema-names.ts";

const text = (most: number) => z.string().min(1).max(most);

/** Feedback about a run from a person, or from a program on their behalf. */
export const GivenFeedback = z
  .strictObject({
    score: z.number().exactOptional().describe("on a scale of yours, such as -1 and 1, or 1 to 5"),
    label: text(100).exactOptional().describe("such as good, wrong, unsafe"),
    comment: text(4_000).exactOptional(),
    by: text(256).exactOptional().describe("who says so; the key's id when absent"),
    seq: z.number().int().positive().exactOptional().describe("the event it is about; the whole run when absent"),
  })
  .refine(({ score, label, comment }) => (score ?? label ?? comment) !== undefined, {
    message: "a score, a label or a comment, please",
  });
export type GivenFeedback = z.output<typeof GivenFeedback>;

/** Stored next to the run, never among its events, which do not change. */
export const Feedback = z.strictObject({
  score: z.number().exactOptional(),
  label: z.string().exactOptional(),
  comment: z.string().exactOptional(),
  by: z.string(),
  seq: z.number().int().exactOptional(),
  at: z.number().describe("ms since the epoch"),
  key: z.string().exactOptional().describe("id of the key that sent it"),
});
export type Feedback = z.output<typeof Feedback>;
named("GivenFeedback", GivenFeedback);
named("Feedback", Feedback);

/** Selects runs with at least one feedback that matches all of this. */
export interface FeedbackFilter {
  readonly label?: string;
  readonly by?: string;
  readonly minScore?: number;
  readonly maxScore?: number;
}

export const feedbackFits =
  ({ label, by, minScore, maxScore }: FeedbackFilter) =>
  (given: Feedback): boolean =>
    (label === undefined || given.label === label) &&
    (by === undefined || given.by === by) &&
    (minScore === undefined || (given.score !== undefined && given.score >= minScore)) &&
    (maxScore === undefined || (given.score !== undefined && given.score <= maxScore));
