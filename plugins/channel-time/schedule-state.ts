import type { KeyValue, KeyValues, StoredSchedule } from "venturi/plugin";
import { idOf } from "./schedule.ts";

const space = "schedule-states";
const mostKept = 20;

export interface Start {
  readonly time: number;
  readonly run?: string;
  /** Why there is no run. */
  readonly skipped?: string;
  readonly error?: string;
}

/**
 * What replicas share about a schedule. It does not make a start happen once; the idempotency key does. It tells how far a restarted
 * process looks back, also after runs and their keys were pruned, and what the API shows.
 */
export interface ScheduleState {
  /** Earlier times do not count: the schedule did not exist. */
  readonly since: number;
  /** Every time up to here, back to `catchUp`, is handled. */
  readonly through: number;
  /** The most recent starts, newest first. */
  readonly starts: readonly Start[];
}

export class ScheduleStates {
  readonly #values: KeyValues;

  constructor(values: KeyValues) {
    this.#values = values;
  }

  async read(schedule: Pick<StoredSchedule, "tenant" | "name">): Promise<ScheduleState | undefined> {
    const found = await this.#values.get(space, idOf(schedule));
    return found && stateIn(found);
  }

  /** The state, created if missing: the schedule then begins now. */
  async open(schedule: StoredSchedule, now: number): Promise<ScheduleState> {
    return await this.#change(schedule, (state) => state ?? { since: now, through: now, starts: [] });
  }

  /**
   * Adds handled starts, once each, whichever replica reports them first. The earliest `since` wins: a replica whose clock is ahead has a
   * later one, and has not looked at the time between.
   */
  async addStarts(schedule: StoredSchedule, news: ScheduleState): Promise<ScheduleState> {
    return await this.#change(schedule, (state) => {
      const known = state?.starts ?? [];
      const fresh = news.starts.filter(
        ({ time, run }) => !known.some((each) => each.time === time && (each.run || !run)),
      );
      const old = known.filter(({ time }) => !fresh.some((each) => each.time === time));
      const starts = [...fresh, ...old].sort((left, right) => right.time - left.time).slice(0, mostKept);
      const { since, through } = state === undefined || news.since <= state.since ? news : state;
      return { since, through: Math.min(through, news.through), starts };
    });
  }

  async forget(schedule: Pick<StoredSchedule, "tenant" | "name">): Promise<void> {
    const found = await this.#values.get(space, idOf(schedule));
    if (found !== undefined) await this.#values.remove(space, found.key, found.version);
  }

  async #change(
    schedule: StoredSchedule,
    next: (state: ScheduleState | undefined) => ScheduleState,
  ): Promise<ScheduleState> {
    const key = idOf(schedule);
    for (;;) {
      const found = await this.#values.get(space, key);
      const before = found && stateIn(found);
      const after = next(before);
      if (after === before) return after;
      const entry = { key, value: JSON.stringify(after), version: found?.version ?? 0 };
      if ((await this.#values.put(space, entry)) !== undefined) return after;
    }
  }
}

const stateIn = ({ value }: KeyValue): ScheduleState => JSON.parse(value) as ScheduleState; // Written from one.
