import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** One connection's statements, prepared on first use. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  run(
    text: string,
    ...values: SQLInputValue[]
  ): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint } {
    return this.#statement(text).run(...values);
  }

  get<T>(text: string, ...values: SQLInputValue[]): T | undefined {
    return this.#statement(text).get(...values) as T | undefined; // The statement's columns are T's fields.
  }

  all<T>(text: string, values: Record<string, SQLInputValue>): T[] {
    return this.#statement(text).all(values) as T[]; // The statement's columns are T's fields.
  }

  /** Row by row, for a reader that may stop early. */
  each<T>(text: string, values: Record<string, SQLInputValue>): Iterable<T> {
    return this.#statement(text).iterate(values) as Iterable<T>; // The statement's columns are T's fields.
  }

  #statement(text: string): StatementSync {
    let statement = this.#prepared.get(text);
    if (!statement) {
      statement = this.#database.prepare(text);
      this.#prepared.set(text, statement);
    }
    return statement;
  }
}
