import type { Origin, Standing } from "./standing.ts";

/** A run derived from its state changes. Events are not read, so `head` and `time` of a running run may be stale. */
export interface Known extends Standing, Origin {
  readonly run: string;
  readonly shard: number;
  /** When and at which sequence its request was stored, by the engine's clock. */
  readonly created: number;
  readonly place: number;
  /** Sequence and time of its last state change. */
  readonly seq: number;
  readonly time: number;
}

interface Place {
  readonly run: string;
  readonly place: number;
  readonly created: number;
}

export interface WalkOptions {
  readonly oldestFirst: boolean;
  /** Where an earlier page ended: `cursorOf` its last run. */
  readonly cursor?: string | undefined;
}

export const cursorOf = ({ shard, place, created }: Known): string => `${shard}.${place}.${created}`;

/** Runs in order of arrival: exact within a shard, by engine time across shards. */
export class Catalog {
  readonly #runs = new Map<string, Known>();
  /** By shard, in sequence order. May name removed runs. */
  readonly #places: Place[][];

  constructor(shards: number) {
    this.#places = Array.from({ length: shards }, () => []);
  }

  get size(): number {
    return this.#runs.size;
  }

  get(run: string): Known | undefined {
    return this.#runs.get(run);
  }

  set(known: Known): void {
    const before = this.#runs.get(known.run);
    this.#runs.set(known.run, known);
    if (before?.place === known.place && before.created === known.created) return;
    const places = this.#places[known.shard] ?? [];
    const { run, place, created } = known;
    const last = places.at(-1);
    if (!last || last.place < place) {
      places.push({ run, place, created });
      return;
    }
    const index = firstIndex(places, (entry) => entry.place >= place);
    const replaces = places[index]?.place === place ? 1 : 0;
    places.splice(index, replaces, { run, place, created });
  }

  delete(run: string): void {
    const known = this.#runs.get(run);
    if (!known) return;
    this.#runs.delete(run);
    const places = this.#places[known.shard] ?? [];
    if (places.length < 1_000 || this.#runs.size * 2 > places.length * this.#places.length) return;
    this.#places[known.shard] = places.filter((entry) => this.#runs.has(entry.run));
  }

  *walk({ oldestFirst, cursor }: WalkOptions): Generator<Known> {
    const step = oldestFirst ? 1 : -1;
    const at = this.#places.map((places, shard) => startOf({ places, shard, step, cursor }));
    for (;;) {
      let best: { shard: number; entry: Place } | undefined;
      for (const [shard, places] of this.#places.entries()) {
        const entry = places[at[shard] ?? -1];
        if (entry && (!best || (entry.created - best.entry.created) * step < 0)) best = { shard, entry };
      }
      if (!best) return;
      at[best.shard] = (at[best.shard] ?? 0) + step;
      const known = this.#runs.get(best.entry.run);
      if (known?.place === best.entry.place) yield known;
    }
  }
}

interface Start {
  readonly places: readonly Place[];
  readonly shard: number;
  readonly step: 1 | -1;
  readonly cursor: string | undefined;
}

/** A shard's first entry after the cursor in listing order, where lower shards come first on a tie. */
function startOf({ places, shard, step, cursor }: Start): number {
  if (cursor === undefined) return step === 1 ? 0 : places.length - 1;
  const match = /^(\d+)\.(\d+)\.([\d.]+)$/.exec(cursor);
  if (!match) return places.length; // an unknown cursor: nothing follows it
  const [ofShard = 0, place = 0, created = 0] = match.slice(1).map(Number);
  const passed = (entry: Place): boolean => {
    if (shard === ofShard) return step === 1 ? entry.place > place : entry.place >= place;
    const tieComesLater = step === 1 ? shard > ofShard : shard < ofShard;
    return tieComesLater ? entry.created >= created : entry.created > created;
  };
  const index = firstIndex(places, passed);
  return step === 1 ? index : index - 1;
}

/** The index in a sorted list from which `is` holds. */
function firstIndex<T>(list: readonly T[], is: (item: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = list[middle];
    if (item !== undefined && is(item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
