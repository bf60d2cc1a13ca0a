import type { Cursor, RunEvent } from "venturi/plugin";
import type { Hints } from "./hints.ts";
import type { Live } from "./live.ts";
import { eventsIn, type Records } from "./records.ts";
import type { Tails } from "./tails.ts";
import type { View } from "./view.ts";

const op = "journal.read";

interface ReadingOptions {
  readonly hints: Hints;
  readonly live: Live;
  readonly view: View;
  readonly tails: Tails;
  readonly records: Records;
}

/** Reads events: runs written by another process are followed live, all others are read from the stream. */
export class Reading {
  readonly #options: ReadingOptions;

  constructor(options: ReadingOptions) {
    this.#options = options;
  }

  async read(run: string, after: number, limit: number): Promise<RunEvent[]> {
    const { live, tails, records } = this.#options;
    if (this.#isFollowed(run)) live.follow(run);
    const tail = await tails.read(op, run);
    if (!tail) return [];
    if (tail.head <= after || limit <= 0) {
      live.checked(run, tail.head);
      return [];
    }
    const found = await records.read(op, { run, after, limit, upTo: tail.seq });
    if (tail.head <= after + limit) live.checked(run, tail.head);
    return eventsIn(found, after, limit);
  }

  async readMany(cursors: readonly Cursor[], limit: number): Promise<Map<string, RunEvent[]>> {
    const { live, records } = this.#options;
    const found = new Map<string, RunEvent[]>();
    const unknown: Cursor[] = [];
    for (const cursor of cursors) {
      const { run, after } = cursor;
      if (this.#isFollowed(run)) live.follow(run);
      const events = live.take(run, after, limit);
      if (!events) unknown.push(cursor);
      else if (events.length > 0) found.set(run, events);
    }
    const latest = unknown.length === 0 ? new Map() : await records.latest(op, unknown);
    await Promise.all(
      unknown.map(async ({ run, after }) => {
        const { head = 0, last } = latest.get(run) ?? {};
        // The missing record is usually the last one.
        const isNext = last !== undefined && last.first <= after + 1;
        if (head <= after || isNext) live.checked(run, head);
        if (head <= after) return;
        const events = isNext ? eventsIn([last], after, limit) : await this.read(run, after, limit);
        if (events.length > 0) found.set(run, events);
      }),
    );
    return found;
  }

  /** Whether the run is followed here and written by another process. */
  #isFollowed(run: string): boolean {
    const { hints, tails, view } = this.#options;
    return hints.followed && tails.get(run) === undefined && view.get(run)?.state !== "done";
  }
}
