import type {
  Amount,
  Balance,
  Billed,
  Reached,
  Reservation,
  Reserved,
  UsageEntry,
  UsageQuery,
  UsageRow,
} from "venturi/plugin";
import type { Statements } from "./statements.ts";

const keys = ["day", "tenant", "agent", "model", "key", "user"] as const;
const figures = [
  "generations",
  "failed",
  "unpriced",
  "nanos",
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
] as const;
const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

const addUsage = `INSERT INTO usage (${quoted([...keys, ...figures])}) VALUES (${[...keys, ...figures].map(() => "?").join(", ")})
  ON CONFLICT DO UPDATE SET ${figures.map((figure) => `${figure} = ${figure} + excluded.${figure}`).join(", ")}`;

const change = `UPDATE accounts SET nanos = nanos + ?, tokens = tokens + ?, held_nanos = held_nanos + ?, held_tokens = held_tokens + ?
  WHERE account = ?`;
const letGo = "DELETE FROM holds WHERE run = :id RETURNING account, nanos, tokens";
const hold = (count: number): string =>
  `INSERT INTO holds (run, account, nanos, tokens) VALUES ${Array.from({ length: count }, () => "(?, ?, ?, ?)").join(", ")}`;

const findOwned = "SELECT id FROM runs WHERE run = ? AND epoch = ? AND state = 'running'";
const openAccount = `INSERT INTO accounts (account, until) VALUES (?, ?) ON CONFLICT DO UPDATE SET until = max(until, excluded.until)
  RETURNING nanos, tokens, held_nanos AS heldNanos, held_tokens AS heldTokens, level`;
const setLevel = "UPDATE accounts SET level = ? WHERE account = ?";
const readAccount = `SELECT nanos, tokens, held_nanos AS heldNanos, held_tokens AS heldTokens, level FROM accounts WHERE account = ?`;

export const forgetAccounts = `DELETE FROM accounts WHERE until < unixepoch() * 1000
  AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.account = accounts.account)`;

interface AccountRow {
  readonly nanos: number;
  readonly tokens: number;
  readonly heldNanos: number;
  readonly heldTokens: number;
  readonly level: number;
}

/** An account within a transaction: the row if it was read, and the changes since. */
interface Touched {
  row: AccountRow | undefined;
  nanos: number;
  tokens: number;
  heldNanos: number;
  heldTokens: number;
}

/**
 * Collects a transaction's changes to sums and accounts. Its runs mostly share them, so each is read and written once, by `write` at the
 * end.
 */
export class Ledger {
  readonly #ask: Statements;
  readonly #accounts = new Map<string, Touched>();
  /** Sums by their keys. */
  readonly #usage = new Map<string, number[]>();

  constructor(ask: Statements) {
    this.#ask = ask;
  }

  /** Called with the append whose events are billed. `id`: of the run's row. */
  bill(id: number, { usage, spent, release }: Billed): void {
    for (const entry of usage) this.#use(entry);
    for (const { account, nanos, tokens } of spent) {
      const touched = this.#of(account);
      touched.nanos += nanos;
      touched.tokens += tokens;
    }
    if (release) this.#letGo(id);
  }

  reserve({ ownership: { run, epoch }, holds }: Reservation): Reserved {
    const id = this.#ask.get<{ id: number }>(findOwned, run, epoch)?.id;
    if (id === undefined) return { kind: "fenced" };
    this.#letGo(id);
    const reached: Reached[] = [];
    const over: Balance[] = [];
    for (const { account, nanos, tokens, maxNanos = Infinity, maxTokens = Infinity, until } of holds) {
      const { spent, held, level: before } = this.#open(account, until);
      const isOver = spent.nanos + held.nanos + nanos > maxNanos || spent.tokens + held.tokens + tokens > maxTokens;
      if (isOver) over.push({ account, spent, held });
      const isNear = spent.nanos >= 0.8 * maxNanos || spent.tokens >= 0.8 * maxTokens;
      const level = isOver ? 100 : isNear ? 80 : undefined;
      if (level === undefined || level <= before) continue;
      reached.push({ account, spent, level });
      this.#raise(account, level);
    }
    if (over.length > 0) return { kind: "over", over, reached };
    for (const { account, nanos, tokens } of holds) this.#hold(account, nanos, tokens);
    if (holds.length > 0)
      this.#ask.run(hold(holds.length), ...holds.flatMap(({ account, nanos, tokens }) => [id, account, nanos, tokens]));
    return { kind: "held", reached };
  }

  write(): void {
    for (const [account, { nanos, tokens, heldNanos, heldTokens }] of this.#accounts)
      if (nanos !== 0 || tokens !== 0 || heldNanos !== 0 || heldTokens !== 0)
        this.#ask.run(change, nanos, tokens, heldNanos, heldTokens, account);
    for (const [name, sums] of this.#usage) this.#ask.run(addUsage, ...(JSON.parse(name) as string[]), ...sums); // Written below.
  }

  #use(entry: UsageEntry): void {
    const name = JSON.stringify(keys.map((key) => entry[key]));
    const sums = this.#usage.get(name) ?? figures.map(() => 0);
    for (const [index, figure] of figures.entries()) sums[index] = (sums[index] ?? 0) + entry[figure];
    this.#usage.set(name, sums);
  }

  #letGo(id: number): void {
    for (const { account, nanos, tokens } of this.#ask.all<Amount & { account: string }>(letGo, { id }))
      this.#hold(account, -nanos, -tokens);
  }

  #hold(account: string, nanos: number, tokens: number): void {
    const touched = this.#of(account);
    touched.heldNanos += nanos;
    touched.heldTokens += tokens;
  }

  #open(account: string, until: number): Pick<Balance, "spent" | "held"> & { level: number } {
    const touched = this.#of(account);
    touched.row ??= this.#ask.get<AccountRow>(openAccount, account, until) ?? nothing;
    const { row, ...changed } = touched;
    return { ...balanceOf(sum(row, changed)), level: row.level };
  }

  #raise(account: string, level: number): void {
    const touched = this.#of(account);
    touched.row = { ...(touched.row ?? nothing), level };
    this.#ask.run(setLevel, level, account);
  }

  #of(account: string): Touched {
    let touched = this.#accounts.get(account);
    if (touched === undefined) {
      touched = { row: undefined, nanos: 0, tokens: 0, heldNanos: 0, heldTokens: 0 };
      this.#accounts.set(account, touched);
    }
    return touched;
  }
}

const nothing: AccountRow = { nanos: 0, tokens: 0, heldNanos: 0, heldTokens: 0, level: 0 };

const sum = (row: AccountRow, changed: Omit<Touched, "row">): AccountRow => ({
  nanos: row.nanos + changed.nanos,
  tokens: row.tokens + changed.tokens,
  heldNanos: row.heldNanos + changed.heldNanos,
  heldTokens: row.heldTokens + changed.heldTokens,
  level: row.level,
});

export function balances(ask: Statements, accounts: readonly string[]): Balance[] {
  return accounts.flatMap((account) => {
    const row = ask.get<AccountRow>(readAccount, account);
    return row === undefined ? [] : [{ account, ...balanceOf(row) }];
  });
}

const balanceOf = ({ nanos, tokens, heldNanos, heldTokens }: AccountRow): Pick<Balance, "spent" | "held"> => ({
  spent: { nanos, tokens },
  held: { nanos: heldNanos, tokens: heldTokens },
});

export function usage(ask: Statements, { by, since, until, only = {} }: UsageQuery): UsageRow[] {
  const wanted = keys.filter((key) => only[key] !== undefined);
  const conditions = [
    ...wanted.map((key) => `"${key}" = :${key}`),
    ...(since === undefined ? [] : ["day >= :since"]),
    ...(until === undefined ? [] : ["day <= :until"]),
  ];
  const named = keys.filter((key) => by.includes(key));
  const sums = figures.map((figure) => `sum(${figure}) AS ${figure}`).join(", ");
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const order = by.filter((key) => named.includes(key));
  const grouped = named.length === 0 ? "HAVING count(*) > 0" : `GROUP BY ${quoted(named)} ORDER BY ${quoted(order)}`;
  return ask.all<UsageRow>(
    `SELECT ${[...named.map((key) => `"${key}"`), sums].join(", ")} FROM usage ${where} ${grouped}`,
    {
      ...Object.fromEntries(wanted.map((key) => [key, only[key] ?? ""])),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    },
  );
}
