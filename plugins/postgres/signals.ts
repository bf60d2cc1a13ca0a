import { toSignal } from "venturi/internal";
import { type Cursor, type NewSignal, type Signal, type SignalRow, VenturiError } from "venturi/plugin";
import type { Database } from "./database.ts";
import type { Hints } from "./hints.ts";
import type { Statements } from "./sql.ts";

export class Signals {
  readonly #database: Database;
  readonly #sql: Statements;
  readonly #hints: Hints;

  constructor(database: Database, sql: Statements, hints: Hints) {
    this.#database = database;
    this.#sql = sql;
    this.#hints = hints;
  }

  async send(run: string, { id, kind, body }: NewSignal): Promise<boolean> {
    const op = "journal.signal";
    const change = { signals: [run] };
    const payloads = [this.#hints.payload(change), this.#hints.payload({ ...change, work: true })];
    const values = [run, id, kind, JSON.stringify(body), this.#hints.channel, ...payloads];
    const [counted] = await this.#once<{ state: string }>(op, this.#sql.signal, values);
    if (counted) {
      this.#hints.tell({ ...change, work: counted.state === "ready" });
      return true;
    }
    const found = await this.#database.query(op, this.#sql.findRun, [run]);
    if (found.length === 0) throw new VenturiError(op, "not_found", `there is no run ${run}`);
    return false;
  }

  async read(cursors: readonly Cursor[]): Promise<Map<string, Signal[]>> {
    const values = [cursors.map(({ run }) => run), cursors.map(({ after }) => after)];
    const rows = await this.#database.query<SignalRow & { run: string }>("journal.signals", this.#sql.signals, values);
    const found = new Map<string, Signal[]>();
    for (const [run, signals] of Map.groupBy(rows, (row) => row.run)) found.set(run, signals.map(toSignal));
    return found;
  }

  /** A statement that two replicas may race on: the second has nothing to do. */
  async #once<Row extends object>(op: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      return await this.#database.query<Row>(op, text, values);
    } catch (thrown) {
      if (VenturiError.isInstance(thrown) && isDuplicate(thrown.cause)) return [];
      throw thrown;
    }
  }
}

const isDuplicate = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && thrown.code === "23505";
