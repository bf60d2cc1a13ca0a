import { messagesOf } from "../../plugins/channel-time/message.ts";
import { occurrencesOf } from "../../plugins/channel-time/occurrences.ts";
import { ScheduleOptions } from "../../plugins/channel-time/schedule-options.ts";
import type { ScheduleState, Start } from "../../plugins/channel-time/schedule-state.ts";
import { Scheduler } from "../../plugins/channel-time/scheduler.ts";
import { WebhookOptions } from "../../plugins/channel-time/webhook-options.ts";
import { Webhooks } from "../../plugins/channel-time/webhooks.ts";
import type { Enqueue, Journal } from "../../src/core/journal/journal.ts";
import type { Clock } from "../../src/core/ports/clock.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { Runs } from "../../src/core/ports/runs.ts";
import type { RunRow } from "../../src/core/run/run-row.ts";
import type { Engine } from "./engine.ts";
import { isReliable, type Profile } from "./profile.ts";
import { epoch, type Life } from "./world.ts";

/** Schedules that a process looks at together. */
const atOnce = 8;

/** A time of the schedule, ms, and the last one that is looked at. */
const every = 10_000;
const horizon = epoch + 30_000;

// Loaded now: a dynamic import within a history would take real time.
await occurrencesOf({ cron: "* * * * *", timezone: "UTC" });

/** Names of the schedules that one look has begun, by time. */
type Begun = Map<number, Set<string>>;

interface TimeParts {
  readonly life: Life;
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: Journal;
  readonly runs: Runs;
}

/** Schedules and webhooks of all processes, with what was promised of them: a time starts one run, a message arrives, in order. */
export class Timetable {
  readonly #engine: Engine;
  #options: ScheduleOptions | undefined;
  /** All schedules by name; those of another tenant come before the one that is looked at. */
  readonly #config: Record<string, ScheduleOptions> = {};
  #webhook: WebhookOptions | undefined;
  /** Runs by the time they were started for. */
  readonly #started = new Map<number, Set<string>>();
  readonly #scheduled = new Set<string>();
  readonly #settled = new Map<number, Start>();
  #since = Number.POSITIVE_INFINITY;
  /** From here on runs are told of; undefined until the first process has said so. */
  #told = false;
  readonly #toTell = new Set<string>();
  readonly #received = new Map<string, Set<number>>();

  constructor(engine: Engine) {
    this.#engine = engine;
    const { schedule: overlap, webhook, crowd } = engine.profile;
    const timing = { cron: "*/10 * * * * *", catchUp: "10m", agent: "clockwork", input: "tick" };
    this.#options = overlap === "none" ? undefined : ScheduleOptions.parse({ ...timing, overlap });
    for (let number = 0; number < crowd && overlap !== "none"; number++)
      this.#config[`crowd${number}`] = ScheduleOptions.parse({ ...timing, overlap, tenant: "crowd" });
    if (this.#options !== undefined) this.#config.tick = this.#options;
    this.#webhook = webhook
      ? WebhookOptions.parse({
          url: "https://receiver.example/venturi",
          secret: "0123456789abcdef",
          events: ["run.finished", "run.failed", "question.asked", "question.answered"],
          retry: { first: "500ms", longest: "2s" },
        })
      : undefined;
    if (this.#options === undefined && this.#webhook === undefined) return;
    engine.observers.push((method, given, answer) => {
      if (method === "enqueue") this.#enqueued(given[0] as Enqueue, answer as { run: string; existing: boolean });
      if (method === "keyValues.put" && answer !== undefined)
        this.#kept(given[0] as string, given[1] as { key: string; value: string });
    });
  }

  /** What a process does by the clock, until the returned function is called. */
  serve({ life, clock, log, journal, runs }: TimeParts): () => Promise<void> {
    const { keyValues: values } = journal;
    if (values === undefined) throw new Error("the store has key values");
    const shared = { clock, log, journal, values, runs: () => runs };
    const begun: Begun = new Map();
    const noted = this.#notesStarts(life, runs, begun);
    // The scheduler's only timer: each look begins with it.
    const looks: Clock["after"] = (ms, look) =>
      clock.after(ms, () => {
        begun.clear();
        look();
      });
    const parts = { ...shared, clock: { ...clock, after: looks }, runs: () => noted, config: this.#config };
    const scheduler = this.#options && new Scheduler(parts);
    const webhooks =
      this.#webhook &&
      new Webhooks({
        ...shared,
        config: { crm: this.#webhook },
        fetchOf: () => ({ fetch: (_, init) => this.#receive(life, init), close: async () => {} }),
      });
    scheduler?.start();
    // The program would exit and be started again.
    const begin = () =>
      webhooks?.start().catch(() => life.dead || this.#engine.world.later(life, "webhooks", 1_000, begin));
    void begin();
    return async () => {
      await Promise.all([scheduler?.stop(), webhooks?.stop()]);
    };
  }

  /** A process knows of what it has started itself, stored or not: nothing of a later time begins beside it. */
  #notesStarts(life: Life, runs: Runs, begun: Begun): Runs {
    const engine = this.#engine;
    const known = new Map<string, number>();
    const start: Runs["start"] = async (request, options) => {
      const time = timeOf(request.metadata);
      const name = String(request.metadata?.schedule);
      begun.set(time, (begun.get(time) ?? new Set()).add(name));
      if (name !== "tick") return runs.start(request, options);
      this.#inTurn(begun.get(time) ?? new Set(), `${life.name} begins the time ${time - epoch} ms`);
      for (const [run, earlier] of known)
        if (earlier < time && this.#options?.overlap !== "cancel" && !engine.isEnded(run))
          engine.world.violated(
            `${life.name} begins the time ${time - epoch} ms of the schedule while its ${run} is under way`,
          );
      const started = await runs.start(request, options);
      known.set(started.run, time);
      return started;
    };
    return new Proxy(runs, {
      get(target, name) {
        if (name === "start") return start;
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  /**
   * Where nothing goes wrong and nothing has to wait, one tenant's schedules do not hold up another's. Of one look: a process whose clock is ahead
   * starts some early, and makes up for the others when it learns that they began earlier.
   */
  #inTurn(begun: ReadonlySet<string>, what: string): void {
    const { world, profile } = this.#engine;
    if (!isReliable(profile) || profile.schedule === "queue") return;
    if (begun.size > atOnce) world.violated(`${what} after ${begun.size - 1} schedules of another tenant`);
  }

  #enqueued({ key, request }: Enqueue, { run, existing }: { run: string; existing: boolean }): void {
    if (this.#told && !existing) this.#toTell.add(run);
    const time = timeOf(request.metadata);
    if (Number.isNaN(time)) return;
    if (request.metadata?.schedule !== "tick") {
      this.#scheduled.add(run);
      return;
    }
    const runs = this.#started.get(time) ?? new Set();
    this.#started.set(time, runs.add(run));
    this.#scheduled.add(run);
    this.#engine.coverage.count(existing ? "time started by another process" : "time started");
    if (!existing && isAlone(this.#engine.profile) && this.#options?.overlap !== undefined) this.#alone(time, run);
    if (runs.size > 1) this.#engine.world.violated(`${key} started ${[...runs].join(" and ")}`);
  }

  /** One process that goes on without a break knows what it has started. */
  #alone(time: number, run: string): void {
    for (const [earlier, runs] of this.#started)
      for (const other of runs)
        if (earlier < time && other !== run && !this.#engine.isEnded(other))
          this.#engine.world.violated(`${run} of the schedule begins while ${other} is under way`);
  }

  #kept(space: string, { key, value }: { key: string; value: string }): void {
    if (space === "schedule-states" && key === "default/tick") {
      const { since, starts } = JSON.parse(value) as ScheduleState; // written from one
      this.#since = Math.min(this.#since, since);
      for (const start of starts) if (start.run === undefined) this.#settled.set(start.time, start);
    }
    if (space === "webhooks" && key === "cursor") this.#told = true;
  }

  async #receive(life: Life, init: RequestInit | undefined): Promise<Response> {
    const { world, profile, calm, coverage } = this.#engine;
    const { decisions } = world;
    await world.io(life, "the receiver is asked", decisions.below(100));
    const fails = !calm && decisions.chance(profile.receiverFails);
    if (fails && decisions.chance(0.5)) return new Response(null, { status: 503 });
    const id = new Headers(init?.headers).get("webhook-id") ?? "";
    const at = id.lastIndexOf("_");
    this.#receiveMessage(id.slice("msg_".length, at), Number(id.slice(at + 1)));
    await world.io(life, "the receiver answers", decisions.below(100));
    if (!fails) return new Response(null, { status: 204 });
    coverage.count("delivery answered and lost");
    throw new Error("the connection was cut");
  }

  /** A message may come twice, by its id; the first time it comes after those before it. */
  #receiveMessage(run: string, place: number): void {
    const seen = this.#received.get(run) ?? new Set<number>();
    this.#received.set(run, seen);
    this.#engine.coverage.count(seen.has(place) ? "message again" : "message");
    const last = Math.max(-1, ...seen);
    if (!seen.has(place) && place < last) this.#engine.world.violated(`${run}: message ${place} came after ${last}`);
    seen.add(place);
  }

  hasStarted(run: string): boolean {
    return this.#scheduled.has(run);
  }

  /** Nothing is started by the clock any more. */
  close(): void {
    this.#options = undefined;
    this.#webhook = undefined;
  }

  get isDone(): boolean {
    return this.#problems().next().done === true;
  }

  check(): void {
    for (const problem of this.#problems()) this.#engine.world.violated(problem);
  }

  *#problems(): Generator<string> {
    if (this.#options !== undefined) yield* this.#missedTimes();
    if (this.#webhook !== undefined) yield* this.#missedMessages(this.#webhook);
  }

  *#missedTimes(): Generator<string> {
    if (this.#engine.world.now < horizon + every) yield "the last time is not over";
    for (let time = epoch + every; time <= horizon; time += every) {
      if (time <= this.#since) continue;
      const runs = this.#started.get(time) ?? [];
      const settled = this.#settled.get(time);
      const isSkipped = settled?.skipped !== undefined && this.#options?.overlap === "skip";
      if (settled?.error !== undefined) yield `the time ${time - epoch} ms failed: ${settled.error}`;
      const [run] = runs;
      if (run === undefined && !isSkipped) yield `the time ${time - epoch} ms was not started`;
      if (run !== undefined && !this.#engine.isEnded(run) && !this.#engine.isGone(run))
        yield `${run} of the time ${time - epoch} ms has not ended`;
    }
  }

  *#missedMessages(options: WebhookOptions): Generator<string> {
    const { events, restored } = this.#engine;
    for (const run of this.#toTell) {
      if (!this.#engine.isEnded(run) || this.#engine.isGone(run) || restored.has(run)) continue;
      const row = { run, tenant: "", request: {} } as unknown as RunRow; // what a message's place is made of
      const wanted = (events.get(run) ?? []).flatMap((event) => messagesOf(row, event, options));
      for (const { place, type } of wanted)
        if (this.#received.get(run)?.has(place) !== true) yield `${run}: nobody was told of ${type} (${place})`;
    }
  }
}

/** The time that a run was started for; NaN when it is no schedule's. */
const timeOf = (metadata: unknown): number =>
  Date.parse((metadata as { scheduledFor?: string } | undefined)?.scheduledFor ?? "");

const isAlone = ({ workers, crashes, drains, lost, late, twice, skew, slow }: Profile): boolean =>
  workers === 1 && crashes + drains + lost + late + twice + slow === 0 && skew === 0;
