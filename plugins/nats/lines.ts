import { failed } from "./failures.ts";
import type { Names } from "./names.ts";
import { fence, originText, standingText } from "./standing.ts";
import { pause, type Store } from "./store.ts";
import { bytesOf, empty, textOf } from "./stored.ts";

/** Runs that may not have ended, in order, and since when each is there (0: since the line was written). */
export type Line = (readonly [run: string, since: number])[];

export interface StoredLine {
  readonly seq: number;
  readonly line: Line;
}

/** Lists of runs under one subject each, replaced by comparing the sequence. A run is entered before it is created. */
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
    const line = JSON.parse(textOf(there.data)) as Line; // written from one
    return { seq: there.seq, line: line.map(([run, since]) => [run, since || there.time]) };
  }

  /** Decides what becomes of the line, again whenever someone else was quicker; nothing when it may stay as it is. */
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

  /** Takes a run out of a line, and with the last one the line. */
  async leave(op: string, subject: string, run: string): Promise<void> {
    let isEmpty = false;
    await this.change(op, subject, async (line) => {
      const left = line.filter(([other]) => other !== run);
      isEmpty = left.length === 0 && line.length > 0;
      return left.length === line.length ? undefined : left;
    });
    if (!isEmpty) return;
    const { seq, line } = await this.read(op, subject);
    // Only what is still the empty one: a line that was written meanwhile has a later sequence.
    const request = { filter: subject, seq: seq + 1 };
    if (line.length === 0 && seq > 0) await this.#store.api(op, `STREAM.PURGE.${this.#names.index}`, request);
  }

  /**
   * A run that entered a line and was never created: its process died between. After a while its id is taken by a message that
   * says so, behind which nothing fits. That message or a late creator's is stored, never both.
   */
  async isGivenUp(op: string, tenant: string, [run, since]: Line[number]): Promise<boolean> {
    if ((await this.#now(op)) - since < 2 * this.#store.timeout) return false;
    const headers = `V: ${standingText(never)}\r\nQ: ${originText({ agent: "", tenant, void: true })}\r\n`;
    const fenced = fence(0, this.#names.run(run, "*"));
    const write = { subject: this.#names.run(run, "q"), fence: fenced, headers, data: empty };
    return (await this.#store.write(op, write)).kind === "stored";
  }

  /** By the clock of the engine. */
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
