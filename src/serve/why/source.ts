import type { Runs } from "../../core/ports/runs.ts";
import type { RunEvent } from "../../core/run/events.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import type { WhySource } from "./why.ts";

type Asked = Pick<Runs, "get" | "events" | "doing" | "now">;

/** Adapts `Runs` for `explainRun`. Reads pages: a follower would count as another reader, with its own span. */
export const sourceOf = (runs: Asked): WhySource => ({
  row: (run) => runs.get(run),
  events: (row) => eventsUpTo(runs, row),
  doing: async ({ run }) => runs.doing?.(run),
  now: (run) => runs.now?.(run) ?? Date.now(),
});

async function* eventsUpTo(runs: Asked, { run, head }: RunRow): AsyncGenerator<readonly RunEvent[]> {
  for (let after: number | undefined = 0; after !== undefined && after < head; ) {
    const { events, next } = await runs.events(run, { after });
    yield events;
    after = next;
  }
}
