import { z } from "zod";
import { Digest } from "./digest.ts";

const at = z.number();
const ofRun = { run: z.string(), agent: z.string(), at };

const item = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...shape });

/** What a run is currently spending its time on. */
export const FeedPart = z.enum(["providerWait", "providerStream", "retryWait", "tool", "approval", "runtime"]);
export type FeedPart = z.output<typeof FeedPart>;

/**
 * An item of the live feed of all runs. A view, not a log: a later reader gets no earlier items. Rounds and ticks are reported for runs
 * executing in the process the reader is connected to.
 */
export const FeedItem = z.discriminatedUnion("type", [
  /** Everything from here on is reported; list the runs now. */
  item("feed.opened", { at }),
  /** The reader was too slow and items were dropped; list the runs again. */
  item("feed.gap", { at }),
  item("run.started", {
    ...ofRun,
    session: z.string().exactOptional(),
    parent: z.string().exactOptional(),
    by: z.string().exactOptional(),
    /** First characters of its input. */
    input: z.string(),
  }),
  item("round.started", { ...ofRun, round: z.number().int(), model: z.string(), attempt: z.number().int() }),
  item("approval.requested", { ...ofRun, call: z.string(), name: z.string(), until: z.number().exactOptional() }),
  item("approval.resolved", { ...ofRun, call: z.string(), approved: z.boolean().exactOptional() }),
  item("question.asked", { ...ofRun, call: z.string(), name: z.string(), until: z.number().exactOptional() }),
  item("question.answered", { ...ofRun, call: z.string(), answered: z.boolean().exactOptional() }),
  item("run.finished", { ...ofRun, digest: Digest }),
  item("run.failed", { ...ofRun, digest: Digest }),
  /** Once a second: the executing runs. `tokens` counts the deltas of the answer so far. */
  item("tick", {
    at,
    runs: z.array(z.strictObject({ run: z.string(), tokens: z.number().int(), part: FeedPart })),
  }),
]);
export type FeedItem = z.output<typeof FeedItem>;

export interface FeedQuery {
  readonly tenant?: string;
  readonly agent?: string;
  readonly agents?: readonly string[];
  readonly signal?: AbortSignal;
}
