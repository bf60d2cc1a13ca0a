import pg from "pg";
import type { Cluster } from "../plugins/postgres/cluster.ts";
import type { Spent } from "./client.ts";
import { limits, schema } from "./service.ts";

interface Account {
  readonly budget: string;
  readonly whose: string;
  readonly limit: number;
  readonly unit: "nanos" | "tokens";
  readonly runs: readonly Spent[];
}

interface End {
  readonly run: string;
  readonly at: number;
  readonly amount: number;
}

/**
 * Per budget: what its account says is what the events of its runs say; nothing is still set aside; and past the limit at most one
 * generation of each running run ended.
 */
export async function checkBudgets(cluster: Cluster, spent: readonly Spent[]) {
  const violations: string[] = [];
  const of = (pick: (each: Spent) => boolean) => spent.filter(pick);
  const shared: Account[] = [
    {
      budget: "capped",
      whose: "capped",
      limit: limits.capped * 1e9,
      unit: "nanos",
      runs: of(({ tenant }) => tenant === "capped"),
    },
    {
      budget: "eve",
      whose: "open/eve",
      limit: limits.eve,
      unit: "tokens",
      runs: of(({ tenant, user }) => tenant === "open" && user === "eve"),
    },
  ];
  const own = spent.map(
    (each): Account => ({ budget: "runs", whose: each.run, limit: limits.run * 1e9, unit: "nanos", runs: [each] }),
  );
  const kept = await accountsOf(cluster, violations);
  let past = 0;
  for (const account of [...shared, ...own]) {
    const ends = account.runs.flatMap((each) => endsOf(each, account.unit)).toSorted((a, b) => a.at - b.at);
    const sum = ends.reduce((total, { amount }) => total + amount, 0);
    const stored = kept.get(`${account.budget} ${account.whose}`)?.[account.unit] ?? 0;
    if (stored !== sum)
      violations.push(`the account of ${account.budget} ${account.whose} has ${stored}, its runs ${sum}`);
    past += checkBound(account, ends, violations);
  }
  for (const { budget, runs } of shared) {
    const told = runs
      .flatMap(({ events }) => events)
      .filter((event) => event.type === "budget.exceeded" && event.budget === budget);
    if (told.length !== 1) violations.push(`${budget}: its end was told ${told.length} times`);
  }
  if (past === 0) violations.push("no generation went past a limit, so the bound was not tried");
  return { report: { accounts: kept.size, pastLimit: past }, violations };
}

/** Generations that ended after the limit was passed. */
function checkBound({ budget, whose, limit }: Account, ends: readonly End[], violations: string[]): number {
  let sum = 0;
  const past = ends.filter(({ amount }) => {
    sum += amount;
    return sum > limit;
  });
  const byRun = new Map<string, number>();
  for (const { run } of past) byRun.set(run, (byRun.get(run) ?? 0) + 1);
  for (const [run, count] of byRun) {
    if (count > 1) violations.push(`${budget} ${whose}: ${run} had ${count} generations past the limit`);
  }
  return past.length;
}

function endsOf({ run, events }: Spent, unit: Account["unit"]): End[] {
  const [first] = events;
  const inherited = first?.type === "run.started" ? (first.fork?.after ?? 0) : 0;
  return events.flatMap((event) => {
    const isEnd = event.type === "generation.finished" || event.type === "generation.failed";
    if (!isEnd || event.seq <= inherited) return [];
    const amount = amountOf(event, unit) + amountOf(event.hedged ?? {}, unit);
    return amount > 0 ? [{ run, at: event.at, amount }] : [];
  });
}

interface Used {
  readonly cost?: number;
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
}

const amountOf = ({ cost = 0, usage }: Used, unit: Account["unit"]): number =>
  unit === "nanos" ? Math.round(cost * 1e9) : (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);

async function accountsOf(cluster: Cluster, violations: string[]) {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  try {
    const { rows } = await client.query(`SELECT * FROM ${schema}.accounts`);
    const held = rows.filter((row) => Number(row.held_nanos) !== 0 || Number(row.held_tokens) !== 0);
    if (held.length > 0) violations.push(`${held.length} accounts hold something for nobody: ${held[0].account}`);
    const left = await client.query(`SELECT count(*)::int AS count FROM ${schema}.holds`);
    if (left.rows[0].count > 0) violations.push(`${left.rows[0].count} reservations are left`);
    return new Map(
      rows.map((row) => {
        const [budget, whose] = JSON.parse(row.account) as [string, string]; // as accounts are named
        return [`${budget} ${whose}`, { nanos: Number(row.nanos), tokens: Number(row.tokens) }];
      }),
    );
  } finally {
    await client.end();
  }
}
