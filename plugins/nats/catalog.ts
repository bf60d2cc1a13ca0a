import type { Known } from "./known.ts";
import { Table, type Where } from "./table.ts";

export interface WalkOptions extends Where {
  readonly oldestFirst: boolean;
  /** Where an earlier page ended: `cursorOf` its last run. */
  readonly cursor?: string | undefined;
}

export const cursorOf = ({ shard, place, created }: Known): string => `${shard}.${place}.${created}`;

/** Runs in order of arrival: exact within a shard, by engine time across shards. */
export class Catalog {
  readonly #runs = new Map<string, Known>();
  readonly #tables: Table[];

  constructor(shards: number) {
    this.#tables = Array.from({ length: shards }, () => new Table());
  }

  get(run: string): Known | undefined {
    return this.#runs.get(run);
  }

  set(known: Known): void {
    const table = this.#tables[known.shard];
    const before = this.#runs.get(known.run);
    this.#runs.set(known.run, known);
    if (before && before.place !== known.place) table?.delete(before.place);
    table?.set(known);
  }

  /** Unknown runs of one shard, by sequence, with no known ones between them. */
  insert(block: readonly Known[]): void {
    const [first] = block;
    if (!first) return;
    for (const known of block) this.#runs.set(known.run, known);
    this.#tables[first.shard]?.insert(block);
  }

  delete(run: string): void {
    const known = this.#runs.get(run);
    if (!known) return;
    this.#runs.delete(run);
    this.#tables[known.shard]?.delete(known.place);
  }

  /** Matching runs, possibly with a few false positives. */
  *walk({ oldestFirst, cursor, ...where }: WalkOptions): Generator<Known> {
    const step = oldestFirst ? 1 : -1;
    const position = cursor === undefined ? undefined : positionOf(cursor);
    if (position === "unknown") return; // Nothing follows it.
    const lanes = this.#tables.map((table, shard) => {
      const index = table.find(startOf({ table, shard, step, position }), step, where);
      return { table, index, place: table.place(index) };
    });
    const move = (lane: (typeof lanes)[number], from: number) => {
      lane.index = lane.table.find(from, step, where);
      lane.place = lane.table.place(lane.index);
    };
    for (;;) {
      let best: { lane: (typeof lanes)[number]; created: number } | undefined;
      for (const lane of lanes) {
        const { table, place } = lane;
        if (lane.index < 0) continue;
        // Runs may have been added or removed since the last step.
        if (table.place(lane.index) !== place) {
          const index = table.indexOf(place);
          move(lane, step === 1 || table.place(index) === place ? index : index - 1);
          if (lane.index < 0) continue;
        }
        const created = table.created(lane.index);
        if (!best || (created - best.created) * step < 0) best = { lane, created };
      }
      if (!best) return;
      const { lane } = best;
      const { table, index, place } = lane;
      const known = table.runs[index];
      if (known) yield known;
      const now = table.place(index) === place ? index : table.indexOf(place);
      move(lane, step === 1 && table.place(now) !== place ? now : now + step);
    }
  }
}

/** In listing order; on a tie, lower shards come first. */
interface Position {
  readonly shard: number;
  readonly place: number;
  readonly created: number;
}

function positionOf(cursor: string): Position | "unknown" {
  const match = /^(\d+)\.(\d+)\.([\d.]+)$/.exec(cursor);
  if (!match) return "unknown";
  const [shard = 0, place = 0, created = 0] = match.slice(1).map(Number);
  return { shard, place, created };
}

interface Start {
  readonly table: Table;
  readonly shard: number;
  readonly step: 1 | -1;
  readonly position: Position | undefined;
}

/** A shard's first entry after the position. */
function startOf({ table, shard, step, position }: Start): number {
  if (position === undefined) return step === 1 ? 0 : table.length - 1;
  const index = table.firstIndex((at) =>
    isPast({ shard, place: table.place(at), created: table.created(at) }, position, step),
  );
  return step === 1 ? index : index - 1;
}

/** Whether an entry is after the position (oldest first), or at or after it (newest first). */
function isPast(entry: Position, { shard, place, created }: Position, step: 1 | -1): boolean {
  if (entry.shard === shard) return step === 1 ? entry.place > place : entry.place >= place;
  const tieComesLater = step === 1 ? entry.shard > shard : entry.shard < shard;
  return tieComesLater ? entry.created >= created : entry.created > created;
}

/** Runs after the cursor, in listing order. */
export function inListOrder(runs: Iterable<Known>, { oldestFirst, cursor }: WalkOptions): Known[] {
  const step = oldestFirst ? 1 : -1;
  const position = cursor === undefined ? undefined : positionOf(cursor);
  if (position === "unknown") return [];
  const isListed = (known: Known) => !position || isPast(known, position, step) === oldestFirst;
  return [...runs].filter(isListed).sort((left, right) => {
    if (left.shard === right.shard) return (left.place - right.place) * step;
    return (left.created - right.created) * step || left.shard - right.shard;
  });
}

/** Order of arrival: exact within a shard, by engine time across shards. */
export const inOrder = (left: Known, right: Known): number =>
  left.shard === right.shard ? left.place - right.place : left.created - right.created || left.shard - right.shard;
