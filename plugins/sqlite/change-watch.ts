import type { Changes } from "./protocol.ts";
import * as sql from "./sql.ts";
import type { Statements } from "./statements.ts";

/** With more records or signals than this, naming their runs costs more than checking all. */
const most = 2_000;

/** Finds which runs changed since the last look, so that other readers need not look. */
export class ChangeWatch {
  readonly #ask: Statements;
  /** Undefined while nobody follows runs of other processes. */
  #record: number | undefined;
  #signal: number;

  constructor(ask: Statements) {
    this.#ask = ask;
    this.#signal = this.#last(sql.lastSignal);
  }

  /** Its reader may have read before this: the first look names every run. */
  watchEvents(events: "watch" | "ignore"): void {
    this.#record = events === "watch" ? Number.POSITIVE_INFINITY : undefined;
  }

  look(): Changes {
    const work = this.#ask.get<{ work: number }>(sql.findWork)?.work === 1;
    return { work, signals: this.#signals(), events: this.#events() };
  }

  #signals(): string[] {
    const last = this.#last(sql.lastSignal);
    const after = this.#signal;
    this.#signal = last;
    if (last <= after) return [];
    return this.#ask.all<{ run: string }>(sql.newSignals, { after, limit: most }).map(({ run }) => run);
  }

  #events(): string[] | undefined {
    if (this.#record === undefined) return [];
    const after = this.#record;
    const last = this.#last(sql.lastRecord);
    this.#record = last;
    if (last === after) return [];
    // Ids may decrease when the newest runs were pruned.
    if (last < after || last - after > most) return undefined;
    const ids = new Set(this.#ask.all<{ run: number }>(sql.newRecords, { after, limit: most }).map(({ run }) => run));
    return [...ids].flatMap((id) => this.#ask.get<{ run: string }>(sql.nameRun, id)?.run ?? []);
  }

  #last(statement: string): number {
    return this.#ask.get<{ id: number }>(statement)?.id ?? 0;
  }
}
