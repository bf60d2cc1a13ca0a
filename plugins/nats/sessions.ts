import { type Enqueue, VenturiError } from "venturi/plugin";
import { failed } from "./failures.ts";
import type { Names } from "./names.ts";
import { fence, originText, standingText } from "./standing.ts";
import { pause, type Store } from "./store.ts";
import { bytesOf, empty, textOf } from "./stored.ts";
import type { Tails } from "./tails.ts";
import type { View } from "./view.ts";

/** Runs of a session that may not have ended, in order, and since when each is there (0: since the line was written). */
type Line = (readonly [run: string, since: number])[];

interface StoredLine {
  readonly seq: number;
  readonly line: Line;
}

/** The same name of two tenants is two sessions. */
export interface SessionName {
  readonly tenant: string;
  readonly session: string;
}

export interface SessionsOptions {
  readonly store: Store;
  readonly names: Names;
  readonly view: View;
  readonly tails: Tails;
}

/**
 * The line of each session: a message with the runs in it, replaced by comparing its sequence. A run enters the line before it
 * is created, and may start when all before it have ended. Ended stays ended, so an old answer to that is still right.
 */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Puts the run at the end of its session's line; says whether others stand before it. Ended ones leave the line here. */
  async enter(op: string, of: SessionName, { run, whenBusy }: Pick<Enqueue, "run" | "whenBusy">): Promise<boolean> {
    const { store, names } = this.#options;
    const subject = names.session(of.tenant, of.session);
    const deadline = performance.now() + store.timeout;
    for (;;) {
      const { seq, line } = await this.#read(op, subject);
      // One that is there already, by another enqueue with the same key or by an answer that was lost, keeps its place.
      const place = line.findIndex(([other]) => other === run);
      const before = await this.#unfinished(op, of, place < 0 ? line : line.slice(0, place));
      if (before.length > 0 && whenBusy === "conflict") throw busy(op, of.session);
      if (place >= 0) return before.length > 0;
      const data = bytesOf(JSON.stringify([...before, [run, 0]]));
      const ack = await store.write(op, { subject, fence: fence(seq, subject), headers: "", data });
      if (ack.kind === "stored") return before.length > 0;
      if (performance.now() > deadline)
        throw failed(op, ack.kind === "lost" ? ack.why : "others keep writing to the session");
      await pause(2);
    }
  }

  /** The run of the session whose turn it is. */
  async first(op: string, of: SessionName): Promise<string | undefined> {
    const { line } = await this.#read(op, this.#options.names.session(of.tenant, of.session));
    const [first] = await this.#unfinished(op, of, line);
    return first?.[0];
  }

  /** Takes a run that is being removed out of its line, and the line with the last one. */
  async leave(op: string, { tenant, session }: SessionName, run: string): Promise<void> {
    const { store, names } = this.#options;
    const subject = names.session(tenant, session);
    const { seq, line } = await this.#read(op, subject);
    const left = line.filter(([other]) => other !== run);
    if (left.length === line.length) return;
    if (left.length > 0) {
      // Someone else was quicker: the entry stays, and leaves with the next run of the session.
      await store.write(op, { subject, fence: fence(seq, subject), headers: "", data: bytesOf(JSON.stringify(left)) });
    } else await store.api(op, `STREAM.PURGE.${names.index}`, { filter: subject, seq: seq + 1 });
  }

  async #read(op: string, subject: string): Promise<StoredLine> {
    const there = await this.#options.store.last(op, this.#options.names.index, subject);
    if (!there) return { seq: 0, line: [] };
    const line = JSON.parse(textOf(there.data)) as Line; // written from one
    return { seq: there.seq, line: line.map(([run, since]) => [run, since || there.time]) };
  }

  async #unfinished(op: string, of: SessionName, line: Line): Promise<Line> {
    const { view, tails } = this.#options;
    const stands = await Promise.all(
      line.map(async ([run, since]) => {
        const known = view.get(run);
        if (known?.state === "done") return false;
        const tail = await tails.read(op, run);
        if (!tail) return !(await this.#isGivenUp(op, of, { run, since }));
        // An id that another session's run had already was refused after it had entered the line.
        const isOther = known !== undefined && (known.session !== of.session || known.tenant !== of.tenant);
        return tail.state !== "done" && !isOther;
      }),
    );
    return line.filter((_, index) => stands[index]);
  }

  /**
   * A run that entered the line and was never created: its process died between. After a while its id is taken by a message
   * that says so, behind which nothing fits. That message or a late creator's is stored, never both.
   */
  async #isGivenUp(op: string, of: SessionName, { run, since }: { run: string; since: number }): Promise<boolean> {
    const { store, names } = this.#options;
    if ((await this.#now(op)) - since < 2 * store.timeout) return false;
    const standing = {
      epoch: 0,
      head: 0,
      state: "done",
      signals: 0,
      cancelled: false,
      outcome: undefined,
      worker: "",
      asking: 0,
    } as const;
    const headers = `V: ${standingText(standing)}\r\nQ: ${originText({ agent: "", ...of, void: true })}\r\n`;
    const fenced = fence(0, names.run(run, "*"));
    const ack = await store.write(op, { subject: names.run(run, "q"), fence: fenced, headers, data: empty });
    return ack.kind === "stored";
  }

  /** By the clock of the engine. */
  async #now(op: string): Promise<number> {
    const { store, names } = this.#options;
    await store.put(op, { subject: names.clock, headers: "", data: empty });
    return (await store.last(op, names.index, names.clock))?.time ?? 0;
  }
}

export const busy = (op: string, session: string | undefined): VenturiError =>
  new VenturiError(op, "conflict", `the session ${session} has a run under way`);
