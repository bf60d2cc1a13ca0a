import { z } from "zod";
import { isTerminal, type RunEvent } from "../../core/run/events.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { type Cause, causes } from "./causes.ts";
import { causeOf } from "./judge.ts";
import type { Shares } from "./shares.ts";
import { spanFacts } from "./spans.ts";
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
  /** Its spans as OTLP JSON, while they are in the ring buffer. */
  spans(run: string): Promise<unknown> | unknown;
  now(): number;
}

/** Maximum depth of called agents to explain. */
const deepest = 4;

/** Names the cause of a slow or failed run, from its events and, if still available, its spans. */
export async function explainRun(source: WhySource, run: string, depth = 0): Promise<Why> {
  const row = await source.row(run);
  const story = new Story(row.createdAt);
  for await (const batch of source.events(row)) {
    for (const event of batch) story.take(event);
    const last = batch.at(-1);
    if (last === undefined || isTerminal(last) || last.seq >= row.head) break;
  }
  if (story.end === undefined) story.until(source.now());
  witness(story, await source.spans(run));
  const children = new Map<string, string>();
  for (const { child } of story.tools.values()) {
    if (child === undefined || depth >= deepest) continue;
    const why = await explainRun(source, child, depth + 1).catch(() => undefined);
    if (why !== undefined) children.set(child, why.summary);
  }
  const cause = causeOf(story);
  const summary = tell(story, children) || causes[cause];
  const ms = Math.round(story.shares.total);
  return { run, agent: row.agent, cause, meaning: causes[cause], summary, ms, parts: partsOf(story.shares) };
}

/** The run's own measurements and its spans are more precise than the gaps between events. */
function witness(story: Story, spans: unknown): void {
  const { shares, end } = story;
  const { client = 0, blocked = 0 } = measured(end?.timing);
  const { journalMs, culprit, slowest } = spanFacts(spans);
  const busy = { part: "blocked", name: culprit } as const;
  shares.move(["providerStall", "providerStream"], { part: "client", name: slowest }, client);
  shares.move(["providerStall", "providerStream", "providerWait", "tool", "runtime"], busy, blocked);
  // A stream is not read while too much is uncommitted, which looks like silence of the provider.
  shares.move(["tool", "runtime", "approval", "providerStall"], { part: "journal", name: "" }, journalMs);
}

/** `stalled`: time the event loop was blocked, if the run recorded it. */
function measured(timing: object | undefined): { client?: number; blocked?: number } {
  const { client = 0, stalled = 0 } = (timing ?? {}) as { client?: number; stalled?: number }; // of an event, by its schema
  return { client, blocked: stalled };
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
