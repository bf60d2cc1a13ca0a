import { StoredSchedules } from "venturi/internal";
import {
  type Clock,
  type Journal,
  type KeyValues,
  type Log,
  messageOf,
  type Runs,
  type StoredSchedule,
} from "venturi/plugin";
import { fromConfig, idOf, type Schedule, watched } from "./schedule.ts";
import type { ScheduleOptions } from "./schedule-options.ts";
import { ScheduleStates } from "./schedule-state.ts";
import { ScheduleWatch } from "./schedule-watch.ts";

/** Maximum time between looks at the clock, which may be set; ms. */
const longestSleep = 1_000;
/** Interval for finding schedules created by other replicas, ms. */
const reloadEvery = 2_000;
/** Interval for reading all schedules, ms: a replica killed while it changes one never marks the change. */
const readEvery = 60_000;
/** Schedules handled concurrently. */
const together = 8;

export interface SchedulerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly runs: () => Runs;
  readonly journal: Journal;
  readonly values: KeyValues;
  readonly config: Readonly<Record<string, ScheduleOptions>>;
}

/** Every replica starts every run; the journal keeps one of each. */
export class Scheduler {
  readonly stored: StoredSchedules;
  readonly states: ScheduleStates;
  readonly #deps: SchedulerDeps;
  readonly #watches = new Map<string, ScheduleWatch>();
  /** Stored schedules that cannot be read, each warned of once. */
  #leftOut: ReadonlySet<string> = new Set();
  #version = -1;
  #reloadedAt = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  #stopTimer: () => void = () => {};
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.stored = new StoredSchedules(deps.values);
    this.states = new ScheduleStates(deps.values);
  }

  start(): void {
    this.#sleep(0);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopTimer();
    await this.#looking;
  }

  /** Schedules of the configuration, by name. */
  async configured(): Promise<Map<string, Schedule>> {
    const found = new Map<string, Schedule>();
    for (const [name, options] of Object.entries(this.#deps.config)) {
      if (!options.enabled) continue;
      const bare = fromConfig(name, options, 0);
      // `in` counts from when any replica first saw the schedule.
      const { since } = await this.states.open(bare, this.#deps.clock.now());
      found.set(name, await watched("config", fromConfig(name, options, since)));
    }
    return found;
  }

  /** Stored schedules that are not over and can be read, by this release with its cron library and its time zones. */
  async *made(of?: { readonly tenant: string }): AsyncGenerator<Schedule> {
    for await (const definition of this.stored.all(of)) {
      const schedule = definition.done ? undefined : await readable(definition);
      if (schedule !== undefined) yield schedule;
    }
  }

  #sleep(ms: number): void {
    if (this.#stopped) return;
    this.#stopTimer = this.#deps.clock.after(ms, () => {
      this.#looking = this.#look().catch((thrown: unknown) => {
        this.#deps.log.warn("schedules could not be looked at; tried again", { error: messageOf(thrown) });
        this.#sleep(longestSleep);
      });
    });
  }

  async #look(): Promise<void> {
    const { clock } = this.#deps;
    if (clock.monotonic() - this.#reloadedAt >= reloadEvery) await this.#reload();
    const now = clock.now();
    const due = byTurns([...this.#watches.values()].filter((watch) => watch.dueAt(now) <= now));
    for (let at = 0; at < due.length && !this.#stopped; at += together) {
      await Promise.all(due.slice(at, at + together).map((watch) => this.#lookAt(watch)));
    }
    let next = Number.POSITIVE_INFINITY;
    for (const watch of this.#watches.values()) next = Math.min(next, watch.dueAt(clock.now()));
    // At least 20 ms: a start that has to wait is always due.
    this.#sleep(Math.min(longestSleep, Math.max(20, next - clock.now())));
  }

  async #lookAt(watch: ScheduleWatch): Promise<void> {
    const { clock, log } = this.#deps;
    const { definition, source } = watch.schedule;
    try {
      await watch.look(clock.now());
      if (source === "api" && watch.isOver(clock.now())) await this.#over(definition);
    } catch (thrown) {
      log.warn("a schedule could not be looked at; tried again", {
        schedule: definition.name,
        error: messageOf(thrown),
      });
    }
  }

  async #over(definition: StoredSchedule): Promise<void> {
    this.#watches.delete(idOf(definition));
    // Schedules of a run are counted until it has ended.
    if (definition.origin !== undefined) await this.stored.finish(definition);
    else await this.stored.remove(definition.tenant, definition.name);
    await this.states.forget(definition);
  }

  async #reload(): Promise<void> {
    const version = await this.stored.version();
    const isFirst = this.#version === -1;
    const now = this.#deps.clock.monotonic();
    this.#reloadedAt = now;
    if (version === this.#version && now - this.#readAt < readEvery) return;
    if (isFirst) for (const schedule of (await this.configured()).values()) this.#watch(schedule);
    const there = new Set<string>();
    const leftOut = new Set<string>();
    for await (const definition of this.stored.all(undefined, (key) => leftOut.add(key))) {
      const id = idOf(definition);
      if (definition.done) await this.#forgetDone(definition);
      else if (await this.#isWatched(definition)) there.add(id);
      else leftOut.add(id);
    }
    for (const [id, watch] of this.#watches) {
      if (watch.schedule.source === "api" && !there.has(id)) this.#watches.delete(id);
    }
    for (const key of leftOut)
      if (!this.#leftOut.has(key)) this.#deps.log.warn("a schedule cannot be read and is left out", { key });
    this.#leftOut = leftOut;
    this.#version = version;
    this.#readAt = now;
  }

  /** False if it cannot be read. Only one that is new is parsed. */
  async #isWatched(definition: StoredSchedule): Promise<boolean> {
    const known = this.#watches.get(idOf(definition))?.schedule;
    // A name may have been reused.
    if (known?.source === "config" || known?.definition.createdAt === definition.createdAt) return true;
    const schedule = await readable(definition);
    if (schedule !== undefined) this.#watch(schedule);
    return schedule !== undefined;
  }

  async #forgetDone({ tenant, name, origin }: StoredSchedule): Promise<void> {
    const row = origin && (await this.#deps.journal.get(origin.run));
    if (row === undefined || row.state === "done") await this.stored.remove(tenant, name);
  }

  #watch(schedule: Schedule): void {
    const { runs } = this.#deps;
    this.#watches.set(idOf(schedule.definition), new ScheduleWatch(schedule, { runs, states: this.states }));
  }
}

const readable = (definition: StoredSchedule): Promise<Schedule | undefined> =>
  watched("api", definition).catch(() => undefined);

/** Round-robin over tenants, so that a tenant with a thousand due schedules delays nobody by more than one. */
function byTurns(due: readonly ScheduleWatch[]): ScheduleWatch[] {
  const before = new Map<string, number>();
  const turns = due.map((watch) => {
    const { tenant } = watch.schedule.definition;
    const turn = before.get(tenant) ?? 0;
    before.set(tenant, turn + 1);
    return { watch, turn };
  });
  return turns.sort((one, other) => one.turn - other.turn).map(({ watch }) => watch);
}
