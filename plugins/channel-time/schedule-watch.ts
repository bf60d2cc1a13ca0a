import { codes, type Runs, type StoredSchedule, VenturiError } from "venturi/plugin";
import { isoOf } from "./moment.ts";
import { jitterOf, keyOf, type Schedule } from "./schedule.ts";
import type { ScheduleState, ScheduleStates, Start } from "./schedule-state.ts";

/** Maximum times handled per look, so that a busy schedule does not delay others after a long outage. */
const mostAtOnce = 200;
/** Times handled here that are remembered, so that a clock set back a little does not request each of them again. */
const mostRemembered = 1_000;
/** Maximum missed times reported. */
const mostMissed = 20;
/** Delay before retrying what could not be stored, ms. */
const storeAgain = 1_000;

export interface WatchDeps {
  readonly runs: () => Runs;
  readonly states: ScheduleStates;
}

/**
 * Starts the runs of one schedule. It handles every time since the last look, or since the last handled time known to any replica, and
 * starts each under its key. Only the present is taken from the clock: after it was set ahead or back, times within `catchUp` are handled
 * again, and the keys find what was already started.
 */
export class ScheduleWatch {
  readonly schedule: Schedule;
  readonly #deps: WatchDeps;
  /** Earlier runs that have ended: no need to ask again. */
  readonly #over = new Set<string>();
  readonly #handled = new Set<number>();
  #state: ScheduleState | undefined;
  /** Handled here but not stored yet, newest first: without them the next start would not know of an open run. */
  #unstored: readonly Start[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(schedule: Schedule, deps: WatchDeps) {
    this.schedule = schedule;
    this.#deps = deps;
  }

  /** When there is something to do, if the clock continues normally. */
  dueAt(now: number): number {
    return now < this.#lookedAt ? now : this.#dueAt;
  }

  /** Whether its only time is handled, or too old to be made up for. */
  isOver(now: number): boolean {
    const { at, catchUp, jitter } = this.schedule.definition;
    return at !== undefined && (this.#handled.has(at) || now > at + jitter + catchUp);
  }

  async look(now: number): Promise<void> {
    const { definition, source, occurrences } = this.schedule;
    const { states } = this.#deps;
    const first = source === "api" ? definition.createdAt - 1 : now;
    const state = this.#state ?? (await states.open(definition, first));
    const window = definition.catchUp + definition.jitter;
    // The state may be of an earlier schedule of this name. A schedule from the future was created under a clock that was ahead.
    const since = Math.min(source === "api" ? Math.max(state.since, first) : state.since, now);
    const wasSetBack = state.through > now;
    let at = Math.max(since, wasSetBack ? 0 : state.through, now - window);
    const missed = wasSetBack ? [] : this.#missed(Math.max(since, state.through), now - window);
    let through = now;
    let dueAt = Number.POSITIVE_INFINITY;
    for (let looked = 0; ; looked++) {
      const time = occurrences.next(at);
      if (time === undefined || time > now || looked >= mostAtOnce) {
        if (time !== undefined) dueAt = Math.min(dueAt, time + jitterOf(definition, time));
        if (time !== undefined && time <= now) through = Math.min(through, at);
        break;
      }
      at = time;
      const due = time + jitterOf(definition, time);
      if (this.#handled.has(time) || due < now - definition.catchUp) continue;
      const start = due > now ? undefined : await this.#start(time);
      if (start === undefined) {
        through = Math.min(through, time - 1);
        dueAt = Math.min(dueAt, Math.max(due, now));
        if (due <= now) break; // In order: later ones wait too.
        continue;
      }
      this.#remember(time);
      // Immediately, because the next time within this look must know of it.
      this.#unstored = [start, ...this.#unstored];
    }
    this.#state = { since, through, starts: [] };
    this.#lookedAt = now;
    this.#dueAt = Math.min(dueAt, now + storeAgain);
    this.#unstored = [...this.#unstored, ...missed];
    if (this.#unstored.length > 0 || wasSetBack) {
      this.#state = await states.addStarts(definition, { since, through, starts: this.#unstored });
      this.#unstored = [];
    }
    this.#dueAt = dueAt;
  }

  /** Times too old to be made up for, newest first: nothing was running, or the previous run took too long. */
  #missed(after: number, upTo: number): Start[] {
    const missed: Start[] = [];
    let time = after < upTo ? this.schedule.occurrences.next(after) : undefined;
    for (
      ;
      time !== undefined && time <= upTo && missed.length < mostMissed;
      time = this.schedule.occurrences.next(time)
    ) {
      if (!this.#handled.has(time)) missed.unshift({ time, skipped: "missed by more than catchUp" });
    }
    return missed;
  }

  /** Undefined if it has to be retried. */
  async #start(time: number): Promise<Start | undefined> {
    const { definition } = this.schedule;
    const runs = this.#deps.runs();
    try {
      const open = await this.#open(runs, time);
      if (open.length > 0 && definition.overlap === "queue") return undefined;
      if (open.length > 0 && definition.overlap === "skip") return { time, skipped: `${open[0]} is still under way` };
      for (const run of open) await runs.cancel(run, `the next run of the schedule "${definition.name}" begins`);
      const { tenant, name } = definition;
      const { run } = await runs.start(requestOf(definition, time), {
        tenant,
        key: keyOf(name, time),
        ...callerOf(definition),
      });
      return { time, run };
    } catch (thrown) {
      if (!VenturiError.isInstance(thrown)) throw thrown;
      const { code, message } = thrown;
      if (codes[code].retryable || (code === "conflict" && definition.overlap !== "skip")) return undefined;
      return code === "conflict" ? { time, skipped: message } : { time, error: `${code}: ${message}` };
    }
  }

  /** Runs of earlier times that are still active. */
  async #open(runs: Runs, time: number): Promise<string[]> {
    const { starts = [] } = (await this.#deps.states.read(this.schedule.definition)) ?? {};
    const earlier = new Set(
      [...this.#unstored, ...starts].flatMap(({ run, time: at }) => (run !== undefined && at < time ? [run] : [])),
    );
    const open: string[] = [];
    for (const run of earlier) {
      if (this.#over.has(run)) continue;
      const row = await runs.get(run).catch((thrown: unknown) => {
        if (VenturiError.isInstance(thrown) && thrown.code === "not_found") return undefined; // It was pruned.
        throw thrown;
      });
      if (row === undefined || row.state === "done") this.#over.add(run);
      else open.push(run);
    }
    for (const run of this.#over) if (!earlier.has(run)) this.#over.delete(run);
    return open;
  }

  #remember(time: number): void {
    this.#handled.add(time);
    const [oldest] = this.#handled;
    if (this.#handled.size > mostRemembered && oldest !== undefined) this.#handled.delete(oldest);
  }
}

function requestOf(definition: StoredSchedule, time: number) {
  const { name, agent, input, session, metadata, notify, origin } = definition;
  return {
    agent,
    input,
    metadata: {
      ...metadata,
      schedule: name,
      scheduledFor: isoOf(time),
      ...(origin === undefined ? {} : { laterDepth: origin.depth }),
    },
    ...(session === undefined ? {} : { session }),
    ...(notify === undefined ? {} : { notify }),
  };
}

function callerOf({ by, concurrentRuns, agents }: StoredSchedule) {
  if (by === undefined) return {};
  const limits = { ...(concurrentRuns === undefined ? {} : { concurrentRuns }), ...(agents && { agents }) };
  return { caller: { id: by, ...limits } };
}
