import type { RunEvent } from "../../src/core/run/events.ts";
import { Random } from "../chaos/random.ts";
import type { Replica } from "../chaos/replica.ts";
import { checkBudgets } from "./check-budgets.ts";
import { checkSums } from "./check-sums.ts";
import { type Spent, spend, strays } from "./client.ts";
import { startService } from "./service.ts";
import type { StoreName } from "./store.ts";

export interface MoneyOptions {
  readonly engine: StoreName;
  readonly seed: number;
  readonly clients: number;
  readonly seconds: number;
}

/** Three replicas, killed and frozen while clients spend; then every sum and every budget is compared with the journal. */
export async function money(options: MoneyOptions) {
  const started = performance.now();
  const { store, replicas, close } = await startService(options.engine);
  try {
    const urls = replicas.map(({ url }) => url);
    const until = Date.now() + options.seconds * 1_000;
    const more = () => Date.now() < until;
    const trouble = makeTrouble(replicas, new Random(options.seed), more);
    const clients = Array.from({ length: options.clients }, (_, n) =>
      spend(urls, new Random(options.seed * 1_000 + n), more),
    );
    const known = (await Promise.all(clients)).flat();
    const faults = await trouble;
    const spent = [...known, ...(await strays(urls, new Random(options.seed), known))];
    const sums = await checkSums(urls, spent);
    const budgets = await checkBudgets(store, spent);
    const tried = {
      forks: spent.filter(({ events }) => events[0]?.type === "run.started" && events[0].fork !== undefined).length,
      takenOver: count(spent, "run.resumed"),
      retracted: count(spent, "round.retracted"),
      removed: spent.filter(({ removed }) => removed).length,
      cancelled: spent.filter(({ events }) => isCancelled(events.at(-1))).length,
      hedged: hedges(spent),
    };
    return {
      engine: options.engine,
      seed: options.seed,
      runs: spent.length,
      ...tried,
      reasons: reasons(spent),
      ...faults,
      ...sums.report,
      ...budgets.report,
      seconds: Math.round((performance.now() - started) / 100) / 10,
      violations: [
        ...sums.violations,
        ...budgets.violations,
        ...Object.entries(tried).flatMap(([what, times]) => (times === 0 ? [`${what}: 0, so it was not tried`] : [])),
      ],
    };
  } finally {
    await close();
  }
}

const count = (spent: readonly Spent[], type: string): number =>
  spent.reduce((sum, { events }) => sum + events.filter((event) => event.type === type).length, 0);

const isCancelled = (event: RunEvent | undefined): boolean =>
  event?.type === "run.failed" && event.error.code === "stream_interrupted";

const hedges = (spent: readonly Spent[]): number =>
  spent.flatMap(({ events }) => events).filter((event) => "hedged" in event && event.hedged !== undefined).length;

/** How often models were chosen, by the first word of the reason. */
function reasons(spent: readonly Spent[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const event of spent.flatMap(({ events }) => events)) {
    if (event.type !== "round.started" || event.reason === undefined) continue;
    const [word = ""] = event.reason.split(":");
    const name = ["weighted", "sticky", "hedge"].includes(word) ? word : "failover or no room";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** At the end everyone is up and awake. */
async function makeTrouble(replicas: readonly Replica[], random: Random, more: () => boolean) {
  const counts = { killed: 0, frozen: 0 };
  while (more()) {
    await pause(random.between(200, 1_500));
    const victim = random.pick(replicas);
    if (random.next() < 0.7) {
      counts.killed += 1;
      await victim.kill();
      await victim.start();
    } else {
      // Longer than its lease more often than not: it wakes as a zombie, whose generations must not be billed.
      counts.frozen += 1;
      victim.freeze();
      await pause(random.between(500, 3_000));
      victim.thaw();
    }
  }
  return counts;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
