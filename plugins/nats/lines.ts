import { failed } from "./failures.ts";
import type { Names } from "./names.ts";
import { fence, originText, standingText } from "./standing.ts";
import { pause, type Store } from "./store.ts";
import { bytesOf, empty, textOf } from "./stored.ts";

/** Runs that may not have ended, in order, each with the time it entered (0: when the list was written). */
export type Line = (readonly [run: string, since: number])[];

export interface StoredLine {
  readonly seq: number;
  readonly line: Line;
}

/** Lists of runs, one per subject, updated by compare-and-set on the sequence. A run is entered before it is created. */
export class Lines {
  readonly #store: Store;
  readonly #names: Names;

  constructor(store: Store, names: Names) {
    this.#store = store;
    this.#names = names;
  }

  async read(op: string, subject: string): Promise<StoredLine> {
    const there = await this.#store.last(op, this.#names.index, subject);
    if (!there) return { seq: 0, line: [] };
    const line = JSON.parse(textOf(there.data)) as Line; // Written from one.
    return { seq: there.seq, line: line.map(([run, since]) => [run, since || there.time]) };
  }

  /** Updates a list, retrying whenever another writer was faster; undefined leaves it unchanged. */
  async change(op: string, subject: string, decide: (line: Line) => Promise<Line | undefined>): Promise<void> {
    const deadline = performance.now() + this.#store.timeout;
    for (;;) {
      const { seq, line } = await this.read(op, subject);
      const next = await decide(line);
      if (next === undefined) return;
      const data = bytesOf(JSON.stringify(next));
      const ack = await this.#store.write(op, { subject, fence: fence(seq, subject), headers: "", data });
      if (ack.kind === "stored") return;
      if (performance.now() > deadline)
        throw failed(op, ack.kind === "lost" ? ack.why : "others keep changing the same line of runs");
      await pause(2);
    }
  }

  /** Removes a run from a list, and the list with its last run. */
  async leave(op: string, subject: string, run: string): Promise<void> {
    let isEmpty = false;
    await this.change(op, subject, async (line) => {
      const left = line.filter(([other]) => other !== run);
      isEmpty = left.length === 0 && line.length > 0;
      return left.length === line.length ? undefined : left;
    });
    if (!isEmpty) return;
    const { seq, line } = await this.read(op, subject);
    // Purges only the empty list: one written in the meantime has a later sequence.
    const request = { filter: subject, seq: seq + 1 };
    if (line.length === 0 && seq > 0) await this.#store.api(op, `STREAM.PURGE.${this.#names.index}`, request);
  }

  /**
   * A run that entered a list but was never created, because its process died in between. After a while a tombstone takes its
   * id, after which nothing can be stored. Either the tombstone or a late creator's message is stored, never both.
   */
  async isGivenUp(op: string, tenant: string, [run, since]: Line[number]): Promise<boolean> {
    if ((await this.#now(op)) - since < 2 * this.#store.timeout) return false;
    const headers = `V: ${standingText(never)}\r\nQ: ${originText({ agent: "", tenant, void: true })}\r\n`;
    const fenced = fence(0, this.#names.run(run, "*"));
    const write = { subject: this.#names.run(run, "q"), fence: fenced, headers, data: empty };
    return (await this.#store.write(op, write)).kind === "stored";
  }

  /** By the engine's clock. */
  async #now(op: string): Promise<number> {
    await this.#store.put(op, { subject: this.#names.clock, headers: "", data: empty });
    return (await this.#store.last(op, this.#names.index, this.#names.clock))?.time ?? 0;
  }
}

const never = {
  epoch: 0,
  head: 0,
  state: "done",
  signals: 0,
  cancelled: false,
  outcome: undefined,
  worker: "",
  asking: 0,
  wake: 0,
} as const;
