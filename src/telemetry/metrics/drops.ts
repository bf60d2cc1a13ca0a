import { performance } from "node:perf_hooks";
import type { Log } from "../../core/ports/log.ts";
import { labels, metrics } from "../base/names.ts";
import type { AttributeSets } from "./instruments.ts";
import type { Meter } from "./meter.ts";

export type DroppedKind = "spans" | "logs";
export type DropReason = "queue_full" | "export_failed";

const quiet = 60_000;

/** Counts lost telemetry, and logs each kind of loss at most once a minute. */
export class Drops {
  readonly #dropped: ReturnType<Meter["counter"]>;
  readonly #sets: AttributeSets;
  readonly #log: Log;
  /** By kind and reason: when it was last logged, and how many were dropped since. */
  readonly #unlogged = new Map<string, { loggedAt: number; dropped: number }>();
  total = 0;

  constructor(meter: Meter, sets: AttributeSets, log: Log) {
    this.#dropped = meter.counter({ name: metrics.dropped, description: "Telemetry that was dropped", unit: "" });
    this.#sets = sets;
    this.#log = log;
  }

  count(what: DroppedKind, reason: DropReason, number: number): void {
    this.#dropped(this.#sets.of({ [labels.what]: what, [labels.reason]: reason })).value += number;
    this.total += number;
    const key = `${what} ${reason}`;
    const since = this.#unlogged.get(key) ?? { loggedAt: Number.NEGATIVE_INFINITY, dropped: 0 };
    this.#unlogged.set(key, since);
    since.dropped += number;
    const now = performance.now();
    if (now - since.loggedAt < quiet) return;
    const { dropped } = since;
    this.#log.warn(`${what} dropped; is the collector reachable and fast enough?`, { what, reason, dropped });
    since.loggedAt = now;
    since.dropped = 0;
  }
}
