import { VenturiError } from "../core/errors/errors.ts";
import type { Signal } from "../core/journal/journal.ts";
import { type Clock, sleep } from "../core/ports/clock.ts";
import type { RunEvent } from "../core/run/events.ts";
import { isAnswered, isAsked } from "../core/run/questions.ts";
import type { Crash } from "../core/run/signals.ts";

/** Processes that a run may take down, as far as it is known to have been the cause. */
const mostBlamed = 2;
/** Attempts that may end with the process for an unknown reason, before something is done about it. */
const suspectAfter = 2;
const mostAttempts = 5;
/** Suspects start in groups that double, this long after each other, ms. */
const groupTime = 1_000;
/** What each has for itself when it is its last attempt, ms. */
const lastTime = 4_000;

/** What an attempt leaves that the next one need not repeat. */
const progress: ReadonlySet<RunEvent["type"]> = new Set([
  "tool.finished",
  "approval.requested",
  "approval.resolved",
  "question.asked",
  "question.answered",
  "generation.finished",
  "generation.failed",
  "round.finished",
  "agent.changed",
  "message.added",
  "context.compacted",
  "memory.changed",
  "memory.recalled",
  "tools.found",
  "run.paused",
  "run.continued",
]);

export interface Attempts {
  /** In a row that were continued by another worker without having got anywhere, and without another run to blame. */
  readonly lost: number;
  /** Processes that ended because of this run. */
  readonly blamed: readonly Crash[];
  /** Whether it was left to wait for an answer or to be resumed, rather than by a worker that ended. */
  readonly parked: boolean;
}

export function attemptsOf(history: readonly RunEvent[], signals: readonly Signal[] = []): Attempts {
  const crashes = signals.flatMap(({ kind, body }) => (kind === "crashed" ? [body as unknown as Crash] : [])); // see freeRunsOf
  const excused = new Set(crashes.filter(({ blamed, unknown }) => !blamed && !unknown).map(({ epoch }) => epoch));
  const open = new Set<string>();
  let lost = 0;
  for (const event of history) {
    if (event.type === "run.paused") open.add(`paused ${event.agent ?? ""}`);
    else if (event.type === "run.continued") open.delete(`paused ${event.agent ?? ""}`);
    else if (isAsked(event)) open.add(event.call);
    else if (isAnswered(event)) open.delete(event.call);
    else if (event.type === "run.resumed" && open.size === 0 && !excused.has(event.epoch - 1)) lost += 1;
    if (progress.has(event.type)) lost = 0;
  }
  return { lost, blamed: crashes.filter(({ blamed }) => blamed), parked: open.size > 0 };
}

/** A run that ends every process that continues it would go on doing so for ever, and the other runs of those processes suffer. */
export function refuseCrashing(run: string, { lost, blamed }: Attempts): void {
  const last = blamed.at(-1);
  if (last !== undefined && blamed.length >= mostBlamed) {
    const place = placeIn(last.stack);
    const where = place === undefined ? "" : `, at ${place}`;
    throw crashed(
      `${run} ${last.cause ?? "ended its process"}${where}; it was the ${ordinal(blamed.length)} process that it took down`,
    );
  }
  if (lost < mostAttempts) return;
  throw crashed(`${run} was continued ${lost} times, and each time its process ended before a step was done`);
}

const crashed = (message: string): VenturiError =>
  new VenturiError("worker.execute", "worker_crashed", `${message}; see what the processes logged last`);

const ordinal = (count: number): string => (count === 2 ? "second" : `${count}th`);

/** The innermost frame with a place, without the folders: callers see it. */
function placeIn(stack: string | undefined): string | undefined {
  for (const frame of (stack ?? "").split("\n")) {
    const [, name, line] = /([^/\\() ]{1,200}):(\d{1,9}):\d{1,9}\)?$/.exec(frame) ?? [];
    if (name !== undefined) return `${name}:${line}`;
  }
  return undefined;
}

/**
 * Runs of a process that crashed for an unknown reason: one of them may be it, the others were only there. From the second time on
 * they start in groups of 1, 2, 4, …, a second apart, so that many get to their next step before one crashes the process again, and
 * those that had not started are not suspected of it. On its last attempt a run starts alone, after these.
 */
export class SuspectStarts {
  readonly #clock: Clock;
  #group: Promise<void> = Promise.resolve();
  #left = 0;
  #size = 0.5;
  #waiting = 0;
  #alone: Promise<void> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when it may start; `over` aborts when this worker is done with it. Undefined: it is not suspected. */
  take({ lost }: Attempts, over: AbortSignal): Promise<void> | undefined {
    if (lost < suspectAfter) return undefined;
    const mine = lost >= mostAttempts - 1 ? this.#takeAlone(over) : this.#takeGroup();
    return new Promise((resolve) => {
      mine.then(resolve);
      over.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #takeGroup(): Promise<void> {
    if (this.#left === 0) {
      this.#size *= 2;
      this.#left = this.#size;
      const before = this.#group;
      this.#group = this.#size === 1 ? before : before.then(() => sleep(this.#clock, groupTime));
    }
    this.#left -= 1;
    const mine = this.#group;
    this.#waiting += 1;
    mine.then(() => {
      this.#waiting -= 1;
      if (this.#waiting === 0) {
        // The next crash begins with one again.
        this.#size = 0.5;
        this.#left = 0;
        this.#group = sleep(this.#clock, groupTime).catch(() => {});
      }
    });
    return mine;
  }

  #takeAlone(over: AbortSignal): Promise<void> {
    const mine = this.#alone.then(() => this.#group);
    this.#alone = mine.then(() => sleep(this.#clock, lastTime, over)).catch(() => {}); // it is over
    return mine;
  }
}
