import { performance } from "node:perf_hooks";
import type { Log } from "../../core/log.ts";
import { labels, metrics } from "../names.ts";
import type { AttributeSets } from "./instruments.ts";
import type { Meter } from "./meter.ts";

export type Signal = "spans" | "logs";
export type DropReason = "queue_full" | "export_failed";

const quiet = 60_000;

/** Counts telemetry that is lost, and says so at most once a minute. */
export class Drops {
  readonly #dropped: ReturnType<Meter["counter"]>;
  readonly #sets: AttributeSets;
  readonly #log: Log;
  #toldAt = Number.NEGATIVE_INFINITY;
  #untold = 0;
  total = 0;

  constructor(meter: Meter, sets: AttributeSets, log: Log) {
    this.#dropped = meter.counter({ name: metrics.dropped, description: "Telemetry that was dropped", unit: "" });
    this.#sets = sets;
    this.#log = log;
  }

  count(what: Signal, reason: DropReason, number: number): void {
    this.#dropped(this.#sets.of({ [labels.what]: what, [labels.reason]: reason })).value += number;
    this.total += number;
    this.#untold += number;
    const now = performance.now();
    if (now - this.#toldAt < quiet) return;
    this.#toldAt = now;
    this.#log.warn("telemetry dropped; is the collector reachable and fast enough?", {
      what,
      reason,
      dropped: this.#untold,
    });
    this.#untold = 0;
  }
}
