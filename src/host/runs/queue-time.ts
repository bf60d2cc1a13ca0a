import type { Claim, Journal } from "../../core/journal/journal.ts";
import type { Doing } from "../../core/ports/runs.ts";
import { timeOfRunId } from "../../core/run/run-id.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { noticeable, pausedName } from "../../core/run/time-parts.ts";
import type { PausedAgents } from "./paused-agents.ts";

/** Maximum rows of a session searched for the run ahead. */
const mostAhead = 20;

export interface QueueTime {
  readonly ms: number;
  /** The run of the session that was ahead; "" if no worker had room. */
  readonly name: string;
}

/** How long a run has been queued; undefined if not noticeable. */
export async function queueTime(
  { ownership: { run }, tenant, request: { session } }: Claim,
  journal: Journal,
  now: number,
): Promise<QueueTime | undefined> {
  const asked = timeOfRunId(run);
  const ms = asked === undefined ? 0 : now - asked;
  if (ms < noticeable) return undefined;
  // The name of the run ahead is worth a read, but its absence must not fail this run.
  const ahead =
    session === undefined ? undefined : await aheadOf(run, { tenant, session }, journal).catch(() => undefined);
  return { ms, name: ahead?.run ?? "" };
}

/** What a run without an owner waits for; undefined when its events tell (a person, or a worker elsewhere). */
export async function idleFor(
  { run, agent, tenant, session, state, head, createdAt, updatedAt, stranded }: RunRow,
  { journal, now, paused }: { journal: Pick<Journal, "list">; now: number; paused: Pick<PausedAgents, "of"> },
): Promise<Doing | undefined> {
  const since = head === 0 ? createdAt : updatedAt;
  const ms = Math.max(0, now - since);
  if (stranded) return { part: "down", name: `no worker here has the agent ${agent}`, ms, stranded };
  if (state !== "ready") return undefined;
  const pause = paused.of(agent);
  if (pause !== undefined)
    return { part: "paused", name: pausedName(agent), ms: Math.max(0, now - Math.max(since, pause.since)) };
  if (head > 0) return { part: "down", name: "", ms };
  const ahead = session === undefined ? undefined : await aheadOf(run, { tenant, session }, journal);
  return { part: "queue", name: ahead?.run ?? "", ms };
}

/** The run of the same session that this one waits or waited for: the last of those before it to end. */
export async function aheadOf(
  run: string,
  within: { readonly tenant: string; readonly session: string },
  journal: Pick<Journal, "list">,
): Promise<RunRow | undefined> {
  const asked = timeOfRunId(run) ?? 0;
  const { runs } = await journal.list({ ...within, limit: mostAhead });
  return runs
    .filter((row) => row.run < run && (row.state !== "done" || row.updatedAt >= asked))
    .sort(
      (left, right) =>
        Number(left.state === "done") - Number(right.state === "done") || right.updatedAt - left.updatedAt,
    )
    .at(0);
}
