import type { Claim, Journal } from "../../core/journal/journal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { noticeable } from "../../core/run/run-times.ts";
import { timeOfRunId } from "./run-id.ts";

/** Rows of a session that are looked at for the run ahead. */
const mostAhead = 20;

export interface QueueTime {
  readonly ms: number;
  /** The run of the session that was ahead; "" when there was none, so that no worker had room. */
  readonly name: string;
}

/** How long a run waited for its turn until now; undefined when that is not noticeable. */
export async function queueTime(
  { ownership: { run }, tenant, request: { session } }: Claim,
  journal: Journal,
  clock: Clock,
): Promise<QueueTime | undefined> {
  const asked = timeOfRunId(run);
  const ms = asked === undefined ? 0 : clock.now() - asked;
  if (ms < noticeable) return undefined;
  // Its name is worth a read, but not the run.
  const ahead =
    session === undefined ? undefined : await aheadOf(run, { tenant, session }, journal).catch(() => undefined);
  return { ms, name: ahead?.run ?? "" };
}

/** The run of the session that this one waits or waited for: the last to end of those before it. */
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
