import { reasonsOf, type VenturiError, wrap } from "../core/errors/errors.ts";
import type { Journal } from "../core/journal/journal.ts";
import { type Clock, systemClock } from "../core/ports/clock.ts";
import { type Log, silentLog } from "../core/ports/log.ts";

export interface WriteWatchOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  /** Called for every failed write. */
  readonly onFailure?: (operation: string) => void;
}

/** Small, frequent writes that may fit when nothing else does: their failures are meaningful, their successes are not. */
const housekeeping = ["claim", "heartbeat", "release"] as const;
const writes = ["enqueue", "signal", "restore", "audit", "keepDigest", "keepWire"] as const;

/** Whether the journal accepts writes, according to the last one. On a full disk an engine may still respond, and even commit. */
export class WriteWatch {
  /** A field, because every commit reads it. */
  failing: VenturiError | undefined;
  /** Another process reported failing writes: the next check tries one. */
  doubted = false;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #onFailure: WriteWatchOptions["onFailure"];
  #since = 0;
  #last: { readonly message: string; readonly at: number } | undefined;

  constructor({ clock = systemClock, log = silentLog, onFailure }: WriteWatchOptions = {}) {
    this.#clock = clock;
    this.#log = log;
    this.#onFailure = onFailure;
  }

  failed(operation: string, thrown: unknown): void {
    const error = wrap(`journal.${operation}`, thrown, "internal");
    if (error.code !== "journal_failed") return; // The data was at fault, not the journal.
    this.#onFailure?.(operation);
    this.#last = { message: error.message, at: this.#clock.monotonic() };
    if (this.failing === undefined) {
      this.#since = this.#clock.monotonic();
      this.#log.error("the journal takes no writes; not ready", { operation, error: reasonsOf(error).join(": ") });
    }
    this.failing = error;
  }

  /** Why the last write failed, if it failed after this time; monotonic ms. */
  failedSince(at: number): string | undefined {
    return this.#last !== undefined && this.#last.at >= at ? this.#last.message : undefined;
  }

  worked(): void {
    this.doubted = false;
    if (this.failing === undefined) return;
    this.failing = undefined;
    this.#log.info("the journal takes writes again", { ms: Math.round(this.#clock.monotonic() - this.#since) });
  }

  /** Wraps the journal to watch its writes, except appends, which the committer reports. */
  watch(journal: Journal): Journal {
    const same = bound(journal);
    for (const name of housekeeping) same[name] = this.#watched(name, same[name], () => {});
    for (const name of writes) same[name] = this.#watched(name, same[name], () => this.worked());
    return same as unknown as Journal; // It has every member of the journal.
  }

  #watched(name: string, write: unknown, worked: () => void): unknown {
    if (typeof write !== "function") return write; // An optional method of the port.
    return async (...args: unknown[]) => {
      try {
        const value = await write(...args);
        worked();
        return value;
      } catch (thrown) {
        this.failed(name, thrown);
        throw thrown;
      }
    };
  }
}

/** A plain object with the instance's members, methods bound, so that calls cost no more than before. */
function bound(instance: object): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (let at = instance; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      if (name in members) continue;
      const value: unknown = Reflect.get(instance, name);
      members[name] = typeof value === "function" ? value.bind(instance) : value;
    }
  }
  return members;
}
