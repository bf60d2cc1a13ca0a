import { getHeapStatistics } from "node:v8";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Account, Charge, Holder, Holding, Memory } from "../../core/ports/held.ts";
import { keepOne } from "../../core/values/keep-one.ts";

/** Share of the heap limit; the rest is for the service itself and uncounted memory. */
const shareOfHeap = 0.4;

export const defaultMemory = (): number => Math.floor(getHeapStatistics().heap_size_limit * shareOfHeap);

/** Smallest change worth reporting, bytes. */
const worthTelling = 4 * 1024 ** 2;

/**
 * Memory this process holds for its callers, shared max-min fairly when it is short. Up to half of the total anyone may take anything.
 * Beyond that, a tenant may hold its share: the total divided equally among the tenants plus one newcomer, with the unused share of small
 * tenants going to the others. A tenant below its share is never refused.
 */
export class HeldMemory implements Memory {
  readonly #total: number;
  readonly #refused: ((error: VenturiError, tenant: string) => void) | undefined;
  readonly #tenants = new Map<string, number>();
  #held = 0;
  #note: ((holder: Holder) => void) | undefined;
  /** Amount held when last reported. */
  #told = 0;

  /** `refused` is called for each charge that did not fit. */
  constructor(total = defaultMemory(), refused?: (error: VenturiError, tenant: string) => void) {
    this.#total = total;
    this.#refused = refused;
  }

  get held(): number {
    return this.#held;
  }

  get free(): number {
    return this.#total / 2 - this.#held;
  }

  get tenants(): ReadonlyMap<string, number> {
    return this.#tenants;
  }

  noteTo(note: (holder: Holder) => void): void {
    this.#note = note;
  }

  of(tenant: string): Account {
    return {
      charge: (bytes, what) => {
        this.#mustFit(tenant, { bytes, beside: 0, what });
        return this.#open(tenant, bytes, what);
      },
      hold: (bytes, what) => this.#open(tenant, bytes, what),
    };
  }

  /** How much the tenant may hold now. */
  shareOf(tenant: string): number {
    const others: number[] = [];
    for (const [name, bytes] of this.#tenants) if (name !== tenant) others.push(bytes);
    others.sort((left, right) => left - right);
    let left = this.#total;
    let sharing = others.length + 2;
    for (const bytes of others) {
      if (bytes > left / sharing) break;
      left -= bytes;
      sharing -= 1;
    }
    return left / sharing;
  }

  #open(tenant: string, bytes: number, what: Holding): Charge {
    this.#add(tenant, bytes);
    const bounds: Bounds = {
      mustFit: (more, own) => this.#mustFit(tenant, { bytes: more, beside: own, what }),
      add: (more) => this.#add(tenant, more),
    };
    return new Handle({ bytes, handles: 1 }, bounds);
  }

  #add(tenant: string, bytes: number): void {
    this.#held += bytes;
    const own = (this.#tenants.get(tenant) ?? 0) + bytes;
    if (own === 0) this.#tenants.delete(tenant);
    else this.#tenants.set(tenant, own);
    if (this.#note !== undefined && Math.abs(this.#held - this.#told) >= worthTelling) this.#tell(this.#note);
  }

  #tell(note: (holder: Holder) => void): void {
    this.#told = this.#held;
    let [tenant, bytes] = ["", 0];
    for (const [name, own] of this.#tenants) if (own > bytes) [tenant, bytes] = [name, own];
    note({ tenant, bytes, held: this.#held });
  }

  #mustFit(tenant: string, { bytes, beside, what }: { bytes: number; beside: number; what: Holding }): void {
    // A charge always fits when nothing else is held.
    if (this.#held === beside || this.#held + bytes <= this.#total / 2) return;
    const own = this.#tenants.get(tenant) ?? 0;
    const share = this.shareOf(tenant);
    if (own + bytes <= share) return;
    const message = `memory is short: this ${what} needs ${mebibytes(bytes)}, and you hold ${mebibytes(own)} of your share of ${mebibytes(share)}; try again`;
    const details = { limit: "memory", value: own + bytes, most: Math.floor(share), retryAfterMs: 1_000 };
    const error = new VenturiError("memory.charge", "unavailable", message, { details });
    this.#refused?.(error, tenant);
    throw error;
  }
}

const mebibytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

interface Bounds {
  /** `own`: what the growing charge already holds. */
  mustFit(bytes: number, own: number): void;
  add(bytes: number): void;
}

interface Held {
  bytes: number;
  handles: number;
}

class Handle implements Charge {
  readonly #held: Held;
  readonly #bounds: Bounds;
  #open = true;

  constructor(held: Held, bounds: Bounds) {
    this.#held = held;
    this.#bounds = bounds;
    keepOne(this);
  }

  get bytes(): number {
    return this.#open ? this.#held.bytes : 0;
  }

  grow(bytes: number): void {
    if (!this.#open) return;
    this.#bounds.mustFit(bytes, this.#held.bytes);
    this.#change(bytes);
  }

  add(bytes: number): void {
    if (this.#open) this.#change(bytes);
  }

  shrink(bytes: number): void {
    if (this.#open) this.#change(-Math.min(bytes, this.#held.bytes));
  }

  share(): Charge {
    if (!this.#open) return this;
    this.#held.handles += 1;
    return new Handle(this.#held, this.#bounds);
  }

  release(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#held.handles -= 1;
    if (this.#held.handles === 0) this.#change(-this.#held.bytes);
  }

  #change(bytes: number): void {
    this.#held.bytes += bytes;
    this.#bounds.add(bytes);
  }
}
