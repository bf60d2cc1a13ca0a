import { type Clock, sleep } from "../core/clock.ts";
import { VenturiError } from "../core/errors.ts";
import type { RunEvent } from "../core/events.ts";

/** Attempts of a run that may end with its process, before something is done about it. */
const suspectAfter = 2;
const mostAttempts = 5;
/** What the first suspect has for itself, ms. */
const firstTime = 4_000;

/** What an attempt leaves that the next one need not repeat. */
const progress: ReadonlySet<RunEvent["type"]> = new Set([
  "tool.finished",
  "approval.requested",
  "approval.resolved",
  "generation.finished",
  "generation.failed",
  "round.finished",
  "agent.changed",
  "message.added",
  "context.compacted",
]);

export interface Attempts {
  /** In a row that were continued by another worker without having got anywhere. */
  readonly lost: number;
  /** Whether it was left to wait for an answer, rather than by a worker that ended. */
  readonly parked: boolean;
}

export function attemptsOf(history: readonly RunEvent[]): Attempts {
  const open = new Set<string>();
  let lost = 0;
  for (const event of history) {
    if (event.type === "approval.requested") open.add(event.call);
    else if (event.type === "approval.resolved") open.delete(event.call);
    else if (event.type === "run.resumed" && open.size === 0) lost += 1;
    if (progress.has(event.type)) lost = 0;
  }
  return { lost, parked: open.size > 0 };
}

/** A run that ends every process that continues it would go on doing so for ever, and the other runs of those processes suffer. */
export function refuseCrashing(run: string, { lost }: Attempts): void {
  if (lost < mostAttempts) return;
  throw new VenturiError(
    "worker.execute",
    "worker_crashed",
    `${run} was continued ${lost} times, and each time its process ended before a step was done; see what the processes logged last`,
  );
}

/**
 * Runs of a process that crashed: one of them may be the reason, the others were only there. From the second time on they start one
 * after the other, each when the one before it has ended or had its time, which doubles with every attempt. So the one that crashes
 * the next process is soon alone with it, and the others get to their next step.
 */
export class SuspectStarts {
  readonly #clock: Clock;
  #free: Promise<void> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when it may start; `over` aborts when this worker is done with it. Undefined: it is not suspected. */
  take({ lost }: Attempts, over: AbortSignal): Promise<void> | undefined {
    if (lost < suspectAfter) return undefined;
    const mine = this.#free;
    const time = firstTime * 2 ** (lost - suspectAfter);
    this.#free = mine.then(() => sleep(this.#clock, time, over)).catch(() => {}); // it is over
    return new Promise((resolve) => {
      mine.then(resolve);
      over.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}
