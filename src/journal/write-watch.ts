import { type VenturiError, wrap } from "../core/errors/errors.ts";
import type { Journal } from "../core/journal/journal.ts";
import { type Clock, systemClock } from "../core/ports/clock.ts";
import { type Log, silentLog } from "../core/ports/log.ts";

export interface WriteWatchOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  /** Called with every write that fails. */
  readonly onFailure?: (operation: string) => void;
}

/** Small and frequent: they may still fit where nothing else does, so only their failures tell something. */
const housekeeping = ["claim", "heartbeat", "release"] as const;
const writes = ["enqueue", "signal", "restore", "audit", "keepDigest", "keepWire"] as const;

/** Whether the journal takes writes: the last one decides. An engine may respond, and even commit, on a full disk. */
export class WriteWatch {
  /** A field, because every commit looks at it. */
  failing: VenturiError | undefined;
  /** Somebody else's writes fail: the next check tries one. */
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
    if (error.code !== "journal_failed") return; // what was written is at fault
    this.#onFailure?.(operation);
    this.#last = { message: error.message, at: this.#clock.monotonic() };
    if (this.failing === undefined) {
      this.#since = this.#clock.monotonic();
      this.#log.error("the journal takes no writes; not ready", { operation, error: error.message });
    }
    this.failing = error;
  }

  /** Why the last write failed, if one did after this moment; monotonic ms. */
  failedSince(at: number): string | undefined {
    return this.#last !== undefined && this.#last.at >= at ? this.#last.message : undefined;
  }

  worked(): void {
    this.doubted = false;
    if (this.failing === undefined) return;
    this.failing = undefined;
    this.#log.info("the journal takes writes again", { ms: Math.round(this.#clock.monotonic() - this.#since) });
  }

  /** The same journal; its writes are watched, but for appends, of which the committer tells. */
  watch(journal: Journal): Journal {
    const same = bound(journal);
    for (const name of housekeeping) same[name] = this.#watched(name, same[name], () => {});
    for (const name of writes) same[name] = this.#watched(name, same[name], () => this.worked());
    return same as unknown as Journal; // every member of it is there
  }

  #watched(name: string, write: unknown, worked: () => void): unknown {
    if (typeof write !== "function") return write; // optional in the port
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

/** A plain object with the members of an instance: methods bound, so that calling one costs no more than before. */
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
