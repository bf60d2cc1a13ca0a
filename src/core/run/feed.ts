import { z } from "zod";
import { Digest } from "./digest.ts";

const at = z.number();
const ofRun = { run: z.string(), agent: z.string(), at };

const item = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...shape });

/** Part of its time that a run is in. */
export const FeedPart = z.enum(["providerWait", "providerStream", "retryWait", "tool", "approval", "runtime"]);
export type FeedPart = z.output<typeof FeedPart>;

/**
 * What happens in the service, for a reader that watches all runs. A view, not a log: nothing is repeated for a reader that
 * comes later. Rounds and ticks are reported for runs that execute in the process the reader is connected to.
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
    /** First characters of what it was asked. */
    input: z.string(),
  }),
  item("round.started", { ...ofRun, round: z.number().int(), model: z.string(), attempt: z.number().int() }),
  item("approval.requested", { ...ofRun, call: z.string(), name: z.string(), until: z.number().exactOptional() }),
  item("approval.resolved", { ...ofRun, call: z.string(), approved: z.boolean().exactOptional() }),
  item("question.asked", { ...ofRun, call: z.string(), name: z.string(), until: z.number().exactOptional() }),
  item("question.answered", { ...ofRun, call: z.string(), answered: z.boolean().exactOptional() }),
  item("run.finished", { ...ofRun, digest: Digest }),
  item("run.failed", { ...ofRun, digest: Digest }),
  /** Once a second: the runs under way. `tokens` counts the pieces of the answer so far. */
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
