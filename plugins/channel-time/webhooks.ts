import { sleep } from "venturi/internal";
import {
  type Clock,
  type EgressFetch,
  type Journal,
  type KeyValues,
  type Log,
  messageOf,
  type RunRow,
  type Runs,
} from "venturi/plugin";
import { Courier } from "./courier.ts";
import { RunCursor } from "./cursor.ts";
import { Lanes, space } from "./lanes.ts";
import { Lease } from "./lease.ts";
import { isFor, Receiver } from "./receiver.ts";
import { WebhookFigures } from "./webhook-figures.ts";
import type { WebhookOptions } from "./webhook-options.ts";

/** Interval for finding new runs, ms; the feed wakes it earlier. */
const lookEvery = 1_000;
const leastPause = 50;
const storeEvery = 5_000;
/** Maximum runs remembered as having lanes. */
const mostMet = 5_000;

export interface WebhooksDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly runs: () => Runs;
  readonly journal: Journal;
  readonly values: KeyValues;
  readonly config: Readonly<Record<string, WebhookOptions>>;
  /** How receivers are reached; default: over the network, limited to the webhook's `hosts`. */
  readonly fetchOf?: (options: WebhookOptions) => EgressFetch;
}

/** Notifies receivers about runs. One replica delivers at a time, from the journal, continuing where the last one stopped. */
export class Webhooks {
  readonly lanes: Lanes;
  readonly figures = new Map<string, WebhookFigures>();
  readonly #deps: WebhooksDeps;
  readonly #receivers = new Map<string, Receiver>();
  readonly #couriers = new Map<string, Courier>();
  readonly #lease: Lease;
  readonly #cursor: RunCursor;
  readonly #stopping = new AbortController();
  readonly #met = new Set<string>();
  #wake: () => void = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(deps: WebhooksDeps) {
    const { values, clock, config, journal, log } = deps;
    this.#deps = deps;
    this.lanes = new Lanes(values);
    this.#lease = new Lease(values, { clock, space });
    this.#cursor = new RunCursor(deps, { meet: (row) => this.#meet(row), pass: (run) => this.#pass(run) });
    const mayDeliver = () => this.#lease.held;
    for (const [webhook, options] of Object.entries(config)) {
      const receiver = new Receiver(options, clock, deps.fetchOf);
      const figures = new WebhookFigures(values, webhook);
      this.#receivers.set(webhook, receiver);
      this.figures.set(webhook, figures);
      const shared = { lanes: this.lanes, journal, clock, log, mayDeliver };
      this.#couriers.set(webhook, new Courier({ webhook, receiver, figures, ...shared }));
    }
  }

  /** Starts delivering once the starting position is stored. */
  async start(): Promise<void> {
    await this.#cursor.begin();
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.allSettled([...this.#receivers.values()].map((receiver) => receiver.close()));
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        if (await this.#lease.hold()) await this.#lead(signal);
      } catch (thrown) {
        if (!signal.aborted) log.warn("webhooks wait for the journal", { error: messageOf(thrown) });
      }
      await sleep(clock, lookEvery, signal).catch(() => {}); // Aborted.
    }
    await this.#lease.release().catch(() => {}); // It expires by itself.
  }

  /** Delivers until told to stop, or until another replica takes over. */
  async #lead(stopping: AbortSignal): Promise<void> {
    const { log } = this.#deps;
    const over = new AbortController();
    const signal = AbortSignal.any([stopping, over.signal]);
    this.#met.clear();
    for (const figures of this.figures.values()) await figures.open();
    const work = [...this.#couriers.values()].map((courier) => courier.drive(signal));
    const watching = this.#watch(signal).catch((thrown: unknown) => {
      if (!signal.aborted) log.warn("webhooks hear of runs later", { error: messageOf(thrown) });
    });
    try {
      await this.#look(signal);
    } finally {
      over.abort();
      await Promise.allSettled([...work, watching]);
      for (const figures of this.figures.values()) await figures.store().catch(() => {}); // Only for display.
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const cursor = this.#cursor;
    await cursor.open();
    let storedAt = clock.monotonic();
    while (!signal.aborted && (await this.#lease.hold())) {
      await cursor.advance();
      if (clock.monotonic() - storedAt >= storeEvery) {
        for (const figures of this.figures.values()) await figures.store();
        storedAt = clock.monotonic();
      }
      await sleep(clock, leastPause, signal).catch(() => {}); // Aborted.
      await this.#sleep(lookEvery, signal);
    }
  }

  /** Waits for a wake-up, at most `ms`. */
  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const waking = new AbortController();
    this.#wake = () => waking.abort();
    await sleep(this.#deps.clock, ms, AbortSignal.any([signal, waking.signal])).catch(() => {}); // Woken up.
  }

  /** The feed is fast but lossy; the lanes are durable. */
  async #watch(signal: AbortSignal): Promise<void> {
    for await (const items of this.#deps.runs().feed({ signal })) {
      for (const item of items) {
        if (!("run" in item) || item.type === "round.started") continue;
        this.#wake();
        if (item.type === "run.started") continue;
        for (const courier of this.#couriers.values()) courier.hint(item.run);
      }
    }
  }

  async #meet(row: RunRow): Promise<void> {
    if (this.#met.has(row.run)) return;
    for (const [webhook, options] of Object.entries(this.#deps.config)) {
      const url = urlFor(webhook, options, row);
      if (url === undefined) continue;
      const isOwn = url === options.url ? {} : { url };
      await this.lanes.begin({ webhook, run: row.run, tenant: row.tenant, place: 0, attempts: 0, ...isOwn });
      this.#couriers.get(webhook)?.hint(row.run);
    }
    this.#met.add(row.run);
    const [oldest] = this.#met;
    if (this.#met.size > mostMet && oldest !== undefined) this.#met.delete(oldest);
  }

  async #pass(run: string): Promise<void> {
    for (const [webhook, courier] of this.#couriers) {
      const first = await this.lanes.get(webhook, run);
      if (first === undefined || first.lane.passed) continue;
      await courier.alone(first.key, async () => {
        const stored = await this.lanes.get(webhook, run);
        if (stored !== undefined) await this.lanes.keep(stored, { ...stored.lane, passed: true });
      });
    }
  }
}

/** Where this webhook reports the run, if it does. */
function urlFor(webhook: string, options: WebhookOptions, row: RunRow): string | undefined {
  const { notify } = row.request;
  const isNamed = notify?.webhook === webhook;
  if (!isNamed && options.runs === "notify") return undefined;
  if (!isFor(options, row)) return undefined;
  return (isNamed ? notify.url : undefined) ?? options.url;
}
