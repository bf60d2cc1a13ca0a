import type { Journal } from "../core/journal/journal.ts";
import { type Clock, sleep } from "../core/ports/clock.ts";
import type { RunEvent } from "../core/run/events.ts";
import { eventsOf } from "./export.ts";

export interface ReplayOptions {
  readonly clock: Clock;
  /** Speed factor; infinity: no delays. */
  readonly speed: number;
  readonly signal?: AbortSignal;
}

/** A recorded run's events with their original timing relative to the first. */
export async function* replay(journal: Journal, run: string, options: ReplayOptions): AsyncGenerator<RunEvent> {
  const { clock, speed, signal } = options;
  const start = clock.monotonic();
  let first: number | undefined;
  for await (const events of eventsOf(journal, run)) {
    for (const event of events) {
      first ??= event.at;
      const wait = (event.at - first) / speed - (clock.monotonic() - start);
      if (wait > 0) await sleep(clock, wait, signal);
      yield event;
    }
  }
}
