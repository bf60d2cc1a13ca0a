import { z } from "zod";
import type { Doing } from "../../core/ports/runs.ts";
import type { Timing } from "../../core/run/event-fields.ts";
import { isTerminal, type RunEvent } from "../../core/run/events.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import type { RunTimes } from "../../core/run/run-times.ts";
import { type Cause, causes } from "./causes.ts";
import { causeOf } from "./judge.ts";
import type { Shares } from "./shares.ts";
import { Story } from "./story.ts";
import { tell } from "./tell.ts";

/** The answer to "why was this run slow, or why did it fail?" */
export const Why = z.object({
  run: z.string(),
  agent: z.string(),
  cause: z.enum(Object.keys(causes) as [Cause, ...Cause[]]),
  meaning: z.string().describe("what the cause means"),
  summary: z.string().describe("a paragraph for people"),
  ms: z.number().describe("from the request to the end, or until now"),
  parts: z.array(
    z.object({ part: z.string(), name: z.string(), ms: z.number(), share: z.number(), count: z.number().int() }),
  ),
});
export type Why = z.output<typeof Why>;

/** Source of runs to explain. */
export interface WhySource {
  row(run: string): Promise<RunRow>;
  /** Its events up to the row's head, in batches. */
  events(row: RunRow): AsyncIterable<readonly RunEvent[]>;
  /** What an unfinished run waits for, where its events cannot tell. */
  doing?(row: RunRow): Promise<Doing | undefined>;
  /** The current time on the run's clock. */
  now(run: string): number;
}

/** Maximum depth of called agents to explain. */
const deepest = 4;

/** Names the cause of a slow or failed run, from its events. */
export async function explainRun(source: WhySource, run: string, depth = 0): Promise<Why> {
  const row = await source.row(run);
  // Unfinished runs and those of earlier releases do not record their queue time; use the row's creation time.
  const story = new Story(row.digest?.timing.queue === undefined ? row.createdAt : undefined);
  for await (const batch of source.events(row)) {
    for (const event of batch) story.take(event);
    const last = batch.at(-1);
    if (last === undefined || isTerminal(last) || last.seq >= row.head) break;
  }
  if (story.end === undefined) story.until(source.now(run), await source.doing?.(row));
  else if (story.end.timing.queue === undefined) useSums(story.times, story.end.timing);
  const children = new Map<string, string>();
  for (const { child } of story.tools) {
    if (child === undefined || depth >= deepest) continue;
    const why = await explainRun(source, child, depth + 1).catch(() => undefined);
    if (why !== undefined) children.set(child, why.summary);
  }
  if (story.end === undefined && story.now === "queue") await tellAhead(source, story, children);
  const cause = causeOf(story);
  const summary = tell(story, children) || causes[cause].means;
  const ms = Math.round(story.shares.total);
  return { run, agent: row.agent, cause, meaning: causes[cause].means, summary, ms, parts: partsOf(story.shares) };
}

/** Explains the run ahead in the session: it may be waiting for a person or be stranded, and this run waits with it. */
async function tellAhead(source: WhySource, story: Story, told: Map<string, string>): Promise<void> {
  const name = story.times.segments.findLast(({ part }) => part === "queue")?.name ?? "";
  const row = name === "" ? undefined : await source.row(name).catch(() => undefined);
  if (row?.stranded) told.set(name, "cannot go on: no worker has its agent");
  else if (row !== undefined && row.asking > 0) told.set(name, "waits for a person");
}

/** Uses the sums in the terminal event: earlier releases recorded no waits with their events. */
function useSums(times: RunTimes, { client = 0, stalled = 0 }: Partial<Timing>): void {
  times.move(["providerStall", "providerStream"], { part: "client", name: "" }, client);
  const blocked = { part: "blocked", name: "" } as const;
  times.move(["providerStall", "providerStream", "providerWait", "tool", "runtime"], blocked, stalled);
}

function partsOf(shares: Shares): Why["parts"] {
  const { total } = shares;
  return shares.all.map(({ part, name, ms, count }) => ({
    part,
    name,
    ms: Math.round(ms),
    share: Math.round((ms / Math.max(1, total)) * 1_000) / 1_000,
    count,
  }));
}
