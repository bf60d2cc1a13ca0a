import { usageKeys } from "venturi/internal";
import type { Amount, Balance, Reservation, Reserved, UsageQuery, UsageRow } from "venturi/plugin";
import type { Database } from "./database.ts";
import type { Statements } from "./sql.ts";

const mostTogether = 200;

/** Groups reservations: one statement in flight, and those that arrive meanwhile share the next. */
export class Reservations {
  readonly #database: Database;
  readonly #sql: Statements;
  #waiting: { readonly item: Reservation; readonly answer: PromiseWithResolvers<Reserved> }[] = [];
  #asking = false;

  constructor(database: Database, sql: Statements) {
    this.#database = database;
    this.#sql = sql;
  }

  reserve(item: Reservation): Promise<Reserved> {
    const answer = Promise.withResolvers<Reserved>();
    this.#waiting.push({ item, answer });
    if (!this.#asking) void this.#next();
    return answer.promise;
  }

  async #next(): Promise<void> {
    this.#asking = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, mostTogether);
      const items = group.map(({ item: { ownership, holds } }) => ({
        run: ownership.run,
        epoch: ownership.epoch,
        holds,
      }));
      try {
        const [row] = await this.#database.query<{ answers: string }>("journal.reserve", this.#sql.reserve, [
          JSON.stringify(items),
        ]);
        const answers = JSON.parse(row?.answers ?? "[]") as Reserved[]; // Produced by our own function.
        for (const [index, { answer }] of group.entries()) answer.resolve(answers[index] ?? { kind: "fenced" });
      } catch (thrown) {
        for (const { answer } of group) answer.reject(thrown);
      }
    }
    this.#asking = false;
  }
}

export async function balances(
  database: Database,
  sql: Statements,
  accounts: readonly string[],
): Promise<readonly Balance[]> {
  const rows = await database.query<Amount & { account: string; heldNanos: number; heldTokens: number }>(
    "journal.balances",
    sql.balances,
    [accounts],
  );
  return rows.map(({ account, nanos, tokens, heldNanos, heldTokens }) => ({
    account,
    spent: { nanos, tokens },
    held: { nanos: heldNanos, tokens: heldTokens },
  }));
}

export async function usage(database: Database, sql: Statements, query: UsageQuery): Promise<UsageRow[]> {
  const { by, since, until, only = {} } = query;
  const values: string[] = [];
  const conditions: string[] = [];
  const demand = (condition: string, value: string | undefined) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(`${condition} $${values.length}::text`);
  };
  for (const key of usageKeys) demand(`"${key}" =`, only[key]);
  demand("day >=", since);
  demand("day <=", until);
  const named = by.filter((key) => usageKeys.includes(key)).map((key) => `"${key}" COLLATE "C"`);
  const keys = by.map((key) => `"${key}" COLLATE "C" AS "${key}", `).join("");
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  return await database.find<UsageRow>(
    "journal.usage",
    sql.usage({ keys, order: named.join(", "), conditions: where }),
    values,
  );
}
