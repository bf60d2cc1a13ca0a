import type { Amount } from "../../src/core/journal/money.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { claimed } from "../../src/testing/journal-bench.ts";
import type { Spent } from "./client.ts";
import { limits } from "./service.ts";
import type { Store } from "./store.ts";

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
export async function checkBudgets(store: Store, spent: readonly Spent[]) {
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
  const month = new Date().toISOString().slice(0, 7);
  const nameOf = ({ budget, whose }: Account) => JSON.stringify([budget, whose, budget === "runs" ? whose : month]);
  const kept = await balancesOf(store, [...shared, ...own].map(nameOf), violations);
  let past = 0;
  for (const account of [...shared, ...own]) {
    const ends = account.runs.flatMap((each) => endsOf(each, account.unit)).toSorted((a, b) => a.at - b.at);
    const sum = ends.reduce((total, { amount }) => total + amount, 0);
    const stored = kept.get(nameOf(account))?.[account.unit] ?? 0;
    if (stored !== sum)
      violations.push(`the account of ${account.budget} ${account.whose} has ${stored}, its runs ${sum}`);
    past += checkBound(account, ends, violations);
  }
  for (const { budget, runs } of shared) {
    const told = runs
      .flatMap(({ events }) => events)
      .filter((event) => event.type === "budget.exceeded" && event.budget === budget);
    const met = runs.filter(({ events }) => isRefused(events.at(-1), budget)).length;
    if (told.length !== Math.min(1, met))
      violations.push(`${budget}: ${met} runs met its end, which was told ${told.length} times`);
  }
  if (past === 0) violations.push("no generation went past a limit, so the bound was not tried");
  return { report: { accounts: kept.size, pastLimit: past }, violations };
}

const isRefused = (event: RunEvent | undefined, budget: string): boolean =>
  event?.type === "run.failed"
    ? event.error.details?.budget === budget
    : event?.type === "run.finished" && event.finish === "budget";

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

/** Asked for with no room in any: a refusal tells what is spent and held, and settles what a process that died has left. */
async function balancesOf(store: Store, names: readonly string[], violations: string[]): Promise<Map<string, Amount>> {
  const journal = await store.open();
  const kept = new Map<string, Amount>();
  try {
    const { ownership } = await claimed(journal, { claimFor: "the-check" });
    for (let first = 0; first < names.length; first += 200) {
      const holds = names
        .slice(first, first + 200)
        .map((account) => ({ account, nanos: 1, tokens: 1, maxNanos: 0, maxTokens: 0, until: Date.now() + 60_000 }));
      const answer = await journal.reserve?.({ ownership, holds });
      for (const { account, spent, held } of answer?.kind === "over" ? answer.over : []) {
        kept.set(account, spent);
        if (held.nanos !== 0 || held.tokens !== 0) violations.push(`${account} holds ${held.nanos} for nobody`);
      }
    }
    return kept;
  } finally {
    await journal.close();
  }
}
