import { VenturiError } from "../core/errors/errors.ts";
import type { Signal } from "../core/journal/journal.ts";
import { type Clock, sleep } from "../core/ports/clock.ts";
import type { RunEvent } from "../core/run/events.ts";
import { isAnswered, isAsked } from "../core/run/questions.ts";
import type { Crash } from "../core/run/signals.ts";

/** How many processes a run may take down before it is failed, if it is known to be the cause. */
const mostBlamed = 2;
/** How many attempts may end with their process, for an unknown reason, before the run becomes a suspect. */
const suspectAfter = 2;
const mostAttempts = 5;
/** Suspects start in groups that double, this long after each other, ms. */
const groupTime = 1_000;
/** How long a run on its last attempt runs alone, ms. */
const lastTime = 4_000;

/** Events that mark progress the next attempt need not repeat. */
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
  /** Consecutive attempts that were lost with their worker, made no progress, and have no other run to blame. */
  readonly lost: number;
  /** Processes that ended because of this run. */
  readonly blamed: readonly Crash[];
  /** Whether its last owner parked it, rather than died. */
  readonly parked: boolean;
}

export function attemptsOf(history: readonly RunEvent[], signals: readonly Signal[] = []): Attempts {
  const crashes = signals.flatMap(({ kind, body }) => (kind === "crashed" ? [body as unknown as Crash] : [])); // Written by `freeRunsOf`.
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

/** Refuses a run that keeps ending every process that continues it, along with their other runs. */
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

const ordinal = (count: number): string => ["second", "third"][count - 2] ?? `${count}th`;

/** The innermost stack frame with a file position, without folders: callers see it. */
function placeIn(stack: string | undefined): string | undefined {
  for (const frame of (stack ?? "").split("\n")) {
    const [, name, line] = /([^/\\() ]{1,200}):(\d{1,9}):\d{1,9}\)?$/.exec(frame) ?? [];
    if (name !== undefined) return `${name}:${line}`;
  }
  return undefined;
}

/**
 * Schedules runs of a process that crashed for an unknown reason, any of which may be the cause. From the second crash on they start in
 * groups of 1, 2, 4, …, a second apart: many then reach their next step before the culprit crashes the process again, and those not yet
 * started are not suspected. On its last attempt a run starts alone, after the groups.
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

  /** Resolves when the run may start; undefined: start now, it is not suspected. `over` aborts when this worker is done with the run. */
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
        // After the next crash, groups start with one again.
        this.#size = 0.5;
        this.#left = 0;
        this.#group = sleep(this.#clock, groupTime).catch(() => {});
      }
    });
    return mine;
  }

  #takeAlone(over: AbortSignal): Promise<void> {
    const mine = this.#alone.then(() => this.#group);
    this.#alone = mine.then(() => sleep(this.#clock, lastTime, over)).catch(() => {}); // The run ended before its time was up.
    return mine;
  }
}
