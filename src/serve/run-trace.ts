import { type Clock, systemClock } from "../core/ports/clock.ts";
import type { Runs } from "../core/ports/runs.ts";
import type { RunEvent } from "../core/run/events.ts";

/** How long to wait for the trace of a run about to start, ms, and how often to check. */
const patience = 250;
const interval = 10;

/** How many runs' traces are cached; the event that holds one can be as large as the run's input. */
const mostKnown = 10_000;
const known = new Map<string, Promise<string | undefined>>();

/** Validates the trace: an imported run may contain anything, and this goes into a header. */
export const asTrace = (trace: string | undefined): string | undefined =>
  trace !== undefined && trace.length === 55 && /^[0-9a-f-]+$/.test(trace) ? trace : undefined;

/**
 * The trace context of the run's root span, from its events, for a caller that may see the run. Undefined for a run that was not traced or
 * is still queued: its trace begins when a worker claims it.
 */
export function runTrace(
  runs: Pick<Runs, "get" | "events">,
  run: string,
  clock: Clock = systemClock,
): Promise<string | undefined> {
  const before = known.get(run);
  if (before !== undefined) return before;
  const found = find(runs, run, clock);
  known.set(run, found);
  if (known.size > mostKnown) known.delete(known.keys().next().value ?? run);
  const forget = () => known.delete(run); // It may get one later.
  found.then((trace) => trace === undefined && forget(), forget);
  return found;
}

async function find(runs: Pick<Runs, "get" | "events">, run: string, clock: Clock): Promise<string | undefined> {
  const until = clock.monotonic() + patience;
  for (;;) {
    const started = await eventAfter(runs, run, 0);
    if (started?.type === "run.started") {
      if (started.trace !== undefined || started.fork === undefined) return asTrace(started.trace);
      // A fork's first events are copies; its own trace starts with the event after them.
      const own = await eventAfter(runs, run, started.fork.after);
      if (own !== undefined) return own.type === "run.resumed" ? asTrace(own.trace) : undefined;
    }
    const { state, request } = await runs.get(run);
    const isComing = state === "running" || (state === "ready" && request.fork !== undefined);
    if (!isComing || clock.monotonic() >= until) return undefined;
    await new Promise<void>((resolve) => clock.after(interval, resolve));
  }
}

async function eventAfter(runs: Pick<Runs, "events">, run: string, after: number): Promise<RunEvent | undefined> {
  return (await runs.events(run, { after, limit: 1 })).events[0];
}
