import type { Runs } from "../../core/ports/runs.ts";
import type { RunEvent } from "../../core/run/events.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import type { WhySource } from "./why.ts";

/** Adapts `Runs` for `explainRun`. */
export const sourceOf = (runs: Pick<Runs, "get" | "follow">, spans: (run: string) => unknown): WhySource => ({
  row: (run) => runs.get(run),
  events: (row) => eventsUpTo(runs, row),
  spans,
  now: () => Date.now(),
});

async function* eventsUpTo(runs: Pick<Runs, "follow">, row: RunRow): AsyncGenerator<readonly RunEvent[]> {
  if (row.head === 0) return;
  const enough = new AbortController();
  try {
    for await (const batch of runs.follow(row.run, { signal: enough.signal, channel: "why" })) {
      yield batch;
      if ((batch.at(-1)?.seq ?? 0) >= row.head) return;
    }
  } finally {
    enough.abort();
  }
}
