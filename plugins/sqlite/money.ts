import type { Balance, Billed, Reached, Reservation, Reserved, UsageQuery, UsageRow } from "venturi/plugin";
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

const charge = "UPDATE accounts SET nanos = nanos + ?, tokens = tokens + ? WHERE account = ?";
const giveBack = `UPDATE accounts SET held_nanos = held_nanos - h.nanos, held_tokens = held_tokens - h.tokens
  FROM holds h WHERE h.run = ?1 AND h.account = accounts.account`;
const forgetHolds = "DELETE FROM holds WHERE run = ?";

const findOwned = "SELECT id FROM runs WHERE run = ? AND epoch = ? AND state = 'running'";
const openAccount = `INSERT INTO accounts (account, until) VALUES (?, ?) ON CONFLICT DO UPDATE SET until = max(until, excluded.until)
  RETURNING nanos, tokens, held_nanos AS heldNanos, held_tokens AS heldTokens, level`;
const setLevel = "UPDATE accounts SET level = ? WHERE account = ?";
const hold = "INSERT INTO holds (run, account, nanos, tokens) VALUES (?, ?, ?, ?)";
const addHeld = "UPDATE accounts SET held_nanos = held_nanos + ?, held_tokens = held_tokens + ? WHERE account = ?";

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

/** In the transaction of the append whose events it is about. `id`: of the run's row. */
export function bill(ask: Statements, id: number, { usage, spent, release }: Billed): void {
  for (const entry of usage)
    ask.run(addUsage, ...keys.map((key) => entry[key]), ...figures.map((figure) => entry[figure]));
  for (const { account, nanos, tokens } of spent) ask.run(charge, nanos, tokens, account);
  if (release) letGo(ask, id);
}

export function reserve(ask: Statements, { ownership: { run, epoch }, holds }: Reservation): Reserved {
  const id = ask.get<{ id: number }>(findOwned, run, epoch)?.id;
  if (id === undefined) return { kind: "fenced" };
  letGo(ask, id);
  const reached: Reached[] = [];
  const over: Balance[] = [];
  for (const { account, nanos, tokens, maxNanos = Infinity, maxTokens = Infinity, until } of holds) {
    const row = ask.get<AccountRow>(openAccount, account, until);
    if (row === undefined) continue;
    const { spent, held } = balanceOf(row);
    const isOver = spent.nanos + held.nanos + nanos > maxNanos || spent.tokens + held.tokens + tokens > maxTokens;
    if (isOver) over.push({ account, spent, held });
    const isNear = spent.nanos >= 0.8 * maxNanos || spent.tokens >= 0.8 * maxTokens;
    const level = isOver ? 100 : isNear ? 80 : undefined;
    if (level === undefined || level <= row.level) continue;
    reached.push({ account, spent, level });
    ask.run(setLevel, level, account);
  }
  if (over.length > 0) return { kind: "over", over, reached };
  for (const { account, nanos, tokens } of holds) {
    ask.run(hold, id, account, nanos, tokens);
    ask.run(addHeld, nanos, tokens, account);
  }
  return { kind: "held", reached };
}

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

function letGo(ask: Statements, id: number): void {
  ask.run(giveBack, id);
  ask.run(forgetHolds, id);
}

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
