import { storedEvents } from "venturi/internal";
import type { Cursor, RunEvent } from "venturi/plugin";
import { isFragment } from "./fragments.ts";
import { blockOf, type Names, runOf } from "./names.ts";
import { standingOf } from "./standing.ts";
import { lastLimit, type Store } from "./store.ts";
import { textOf } from "./stored.ts";
import type { View } from "./view.ts";

/** The events of one message. */
export interface Record {
  readonly first: number;
  readonly head: number;
  readonly epoch: number;
  readonly body: string;
}

export interface Page {
  readonly run: string;
  readonly after: number;
  readonly limit: number;
  /** Sequence of the run's last message. */
  readonly upTo: number;
}

/** A run's position when last checked; `last` is its final record, if that is one message. */
export interface Latest {
  readonly head: number;
  readonly last?: Record;
}

/** Reading events. An event is under the subject of its block, or in a state change. */
export class Records {
  readonly #store: Store;
  readonly #names: Names;
  readonly #view: View;

  constructor(store: Store, names: Names, view: View) {
    this.#store = store;
    this.#names = names;
    this.#view = view;
  }

  /** The records that hold any of the requested events. */
  async read(op: string, { run, after, limit, upTo }: Page): Promise<Record[]> {
    const records: Record[] = [];
    const seq = await this.#start(op, run, after + 1);
    const range = { filter: this.#names.run(run, "*"), seq, upTo };
    for await (const message of this.#store.scan(op, this.#names.streamOf(run), range)) {
      const { first, head, epoch } = standingOf(message.header("V") ?? "");
      if (first === 0) continue;
      if (first > after + limit) break;
      if (head > after) records.push({ first, head, epoch, body: textOf(message.data) });
      if (head >= after + limit) break;
    }
    return records;
  }

  /** The positions of many runs, hundreds per request. */
  async latest(op: string, cursors: readonly Cursor[]): Promise<Map<string, Latest>> {
    const found = new Map<string, Latest>();
    const asked: Promise<void>[] = [];
    const step = lastLimit / 2;
    for (const [shard, group] of Map.groupBy(cursors, ({ run }) => this.#names.shardOf(run))) {
      for (let at = 0; at < group.length; at += step) {
        const subjects = group.slice(at, at + step).flatMap(({ run, after }) => this.#where(run, after + 1));
        asked.push(this.#latest(op, { shard, subjects, found }));
      }
    }
    await Promise.all(asked);
    return found;
  }

  async #latest(
    op: string,
    { shard, subjects, found }: { shard: number; subjects: string[]; found: Map<string, Latest> },
  ): Promise<void> {
    const atLeast = this.#view.applied(shard);
    for (const message of await this.#store.lastOfEach(op, this.#names.stream(shard), { subjects, atLeast })) {
      const { run } = runOf(message.subject);
      const { first, head, epoch } = standingOf(message.header("V") ?? "");
      const before = found.get(run);
      if (before && (head < before.head || (head === before.head && before.last))) continue;
      const whole = first > 0 && !isFragment(message);
      found.set(run, { head, ...(whole && { last: { first, head, epoch, body: textOf(message.data) } }) });
    }
  }

  #where(run: string, seq: number): string[] {
    return [this.#names.run(run, `e${blockOf(seq)}`), this.#names.run(run, "x")];
  }

  /** A sequence at or before the message with the event: the first of its block, or of an earlier one. */
  async #start(op: string, run: string, wanted: number): Promise<number> {
    const stream = this.#names.streamOf(run);
    for (let block = blockOf(wanted); block > 0; block--) {
      const subject = this.#names.run(run, `e${block}`);
      const message = await this.#store.next(op, stream, { subject, seq: 1 });
      // Past the wanted event: the beginning of the block came with a state change.
      if (message && standingOf(message.header("V") ?? "").first <= wanted) return message.seq;
    }
    return 1;
  }
}

/** Exactly the events after `after` in the records, at most `limit`. */
export function eventsIn(records: readonly Pick<Record, "first" | "body">[], after: number, limit: number): RunEvent[] {
  const events: RunEvent[] = [];
  for (const { first, body } of records) {
    const lines = body.split("\n");
    events.push(...storedEvents(lines.slice(Math.max(0, after + 1 - first), Math.max(0, after + limit + 1 - first))));
  }
  return events;
}
