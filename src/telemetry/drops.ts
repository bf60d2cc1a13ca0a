import type { Log } from "../core/log.ts";
import type { AttributeSets, Instruments } from "./instruments.ts";
import { labels } from "./names.ts";

export type Signal = "spans" | "logs";
export type DropReason = "queue_full" | "export_failed";

const quiet = 60_000;

/** Counts telemetry that is lost, and says so at most once a minute. */
export class Drops {
  readonly #instruments: Instruments;
  readonly #sets: AttributeSets;
  readonly #log: Log;
  #toldAt = Number.NEGATIVE_INFINITY;
  #untold = 0;
  total = 0;

  constructor(instruments: Instruments, sets: AttributeSets, log: Log) {
    this.#instruments = instruments;
    this.#sets = sets;
    this.#log = log;
  }

  count(what: Signal, reason: DropReason, number: number): void {
    this.#instruments.dropped.add(number, this.#sets.of({ [labels.what]: what, [labels.reason]: reason }));
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
