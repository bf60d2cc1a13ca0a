import { strict as assert } from "node:assert";
import type { Journal } from "../core/journal/journal.ts";
import { type EndOfRun, endOfRun } from "../core/run/digest.ts";
import type { EventBody } from "../core/run/events.ts";
import type { ListQuery } from "../core/run/list-query.ts";
import { noTiming } from "../core/run/timing.ts";
import { floorOf, type Grouping, groupings, type Totals, TotalsFold } from "../core/run/totals.ts";
import { claimed, eventsAfter, freshName, type JournalBench } from "./journal-bench.ts";

/** Stored sums of ended runs equal those of their digests, whatever happens to the runs. */
export function totalsCases(bench: JournalBench): void {
  describe("totals", () => {
    for (const seed of [1, 2, 3]) {
      it(`equal a recount of the digests after any writes and removals (seed ${seed})`, async () => {
        const journal = await bench.open();
        if (journal.totals === undefined) return;
        const other = await bench.reopen();
        const random = randomFrom(seed);
        const tenants = [freshName("tenant"), freshName("tenant")];
        const runs: string[] = [];
        for (let step = 0; step < 40; step++) {
          const which = random(10);
          const on = random(2) === 0 ? journal : other;
          const tenant = tenants[random(2)] ?? "";
          const known = runs[random(Math.max(1, runs.length))];
          if (which < 6 || known === undefined) runs.push(await ended(on, tenant, random));
          else if (which < 7) runs.push(await restored(on, tenant, random));
          else if (which < 8) await digestAgain(on, known, random);
          else if (which < 9) await on.prune({ runs: [known] });
          else
            await Promise.all([
              ended(journal, tenant, random),
              ended(other, tenant, random),
              on.prune({ runs: [known] }),
            ]);
          if (step % 8 === 7) await agree(journal, tenants, random);
        }
        await agree(other, tenants, random);
        await journal.prune({ keep: 3 });
        await agree(journal, tenants, random);
        await journal.prune({ olderThan: -60_000 });
        for (const tenant of tenants)
          assert.deepEqual(await totals(journal, { tenant }, "agent"), plain(new TotalsFold("agent").totals()));
      });
    }

    it("count what a page of runs cannot hold, by every filter they cover", async () => {
      const journal = await bench.open();
      if (journal.totals === undefined) return;
      const tenant = freshName("tenant");
      const random = randomFrom(7);
      for (let count = 0; count < 25; count++) await ended(journal, tenant, random);
      await claimed(journal, { tenant });
      for (const query of [{ since: 1e300 }, { until: -1e300 }, { since: 5.5, until: 5 }, { since: 1e300, until: 7 }])
        assert.equal((await journal.totals({ tenant, ...query }, "day")).all.runs, 0);
      for (const query of [{ since: -1e300 }, { until: 1e300 }, { since: 0.5, until: 1e15 + 0.5 }])
        assert.equal((await journal.totals({ tenant, ...query }, "day")).all.runs, 25);
      for (const query of [
        {},
        { agent: "a" },
        { agents: ["a", "b'"] },
        { agents: [] },
        { outcome: "failed" },
        { outcome: "cancelled" },
        { code: "llm_error" },
        { model: "m/small" },
        { model: "no/such" },
        { by: "key-1" },
        { state: "done" },
        { state: "running" },
        { waiting: true },
        { waiting: false },
        { agent: "a", outcome: "failed", model: "m/small" },
      ] satisfies ListQuery[]) {
        for (const by of [undefined, ...groupings])
          assert.deepEqual(
            await totals(journal, { tenant, ...query }, by),
            await recount(journal, { tenant, ...query }, by),
          );
      }
    });
  });
}

type Random = (below: number) => number;

/** Park and Miller's generator: good enough to choose steps. */
function randomFrom(seed: number): Random {
  let state = seed * 7_919;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

async function agree(journal: Journal, tenants: readonly string[], random: Random): Promise<void> {
  const { runs } = await journal.list({ tenant: tenants[0] ?? "", limit: 200 });
  const times = runs.map(({ createdAt }) => Math.floor(createdAt)).sort((one, other) => one - other);
  const since = times[random(Math.max(1, times.length))] ?? 0;
  for (const tenant of tenants)
    for (const query of [
      {},
      { since },
      { until: since },
      { since, until: since + random(5) },
      { outcome: "failed" as const },
    ]) {
      const by = groupings[random(groupings.length)];
      assert.deepEqual(
        await totals(journal, { tenant, ...query }, by),
        await recount(journal, { tenant, ...query }, by),
      );
    }
}

/** Totals in a form comparable with `recount`. */
export const totals = async (journal: Journal, query: ListQuery, by?: Grouping): Promise<unknown> =>
  plain((await journal.totals?.(query, by)) as Totals); // The journal has them.

/** Recounts from the digests that the journal lists. */
export async function recount(journal: Journal, query: ListQuery, by?: Grouping): Promise<unknown> {
  const fold = new TotalsFold(by);
  let cursor: string | undefined;
  do {
    const page = await journal.list({ ...query, limit: 50, ...(cursor === undefined ? {} : { cursor }) });
    for (const row of page.runs) fold.add(row);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return plain(fold.totals());
}

const plain = ({ all, groups, bars }: Totals): unknown => ({
  all: sorted(all),
  groups: groups.map(sorted),
  bars,
});

/** Merges durations that stored sums do not distinguish. */
function sorted<Sums extends Totals["all"]>(sums: Sums): unknown {
  const spread = new Map<number, number>();
  for (const [ms, runs] of sums.spread) spread.set(floorOf(ms), (spread.get(floorOf(ms)) ?? 0) + runs);
  return { ...sums, spread: [...spread].sort(([one], [other]) => one - other) };
}

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)] as T; // Never empty.

function bodies(random: Random): EventBody[] {
  const models = pick(random, [[], ["m/small"], ["m/small", "m/big"], ["m/small → m/big"], ['m/"q', "ü"]]);
  const usage = pick(random, [{}, { inputTokens: random(1_000) }, { inputTokens: 7, outputTokens: random(50) }]);
  const timing = {
    ...noTiming,
    tool: pick(random, [0, 1, 9, 10, 11, 12.4, 110, 120, 121, random(100_000), 2_000_000_000]),
  };
  const end = { output: "", usage, rounds: models.length, timing };
  const code = pick(random, ["llm_error", "stream_interrupted", "timeout"] as const);
  return [
    { type: "run.started", agent: "a", input: { text: "" } },
    ...models.flatMap((model, at): EventBody[] => [
      { type: "round.started", round: at + 1, model, attempt: 1 },
      { type: "generation.finished", round: at + 1, attempt: 1, finish: "stop", usage },
    ]),
    random(3) > 0
      ? { type: "run.finished", finish: "stop", ...end }
      : { type: "run.failed", error: { op: "x", code, err: "" }, ...end },
  ];
}

const asked = (random: Random) => ({
  agent: pick(random, ["a", "b'", "☃"]),
  input: { text: "" },
  ...(random(3) === 0 ? {} : { caller: { id: pick(random, ["key-1", "key-2"]) } }),
});

/** One price is not representable in binary, one is absurdly large. */
const priceOf = (model: string) =>
  model === "m/small" ? { input: 0.1, output: 0.7 } : model === "m/big" ? { input: 1e14, output: 0 } : undefined;

async function ended(journal: Journal, tenant: string, random: Random): Promise<string> {
  const { ownership, request } = await claimed(journal, { tenant, request: asked(random) });
  const events = eventsAfter(ownership, bodies(random));
  const end = endOfRun({ run: ownership.run, request, priceOf }, events) as EndOfRun; // It has ended.
  assert.equal((await journal.append([{ ownership, events, state: "done", end }])).size, 0);
  return ownership.run;
}

async function restored(journal: Journal, tenant: string, random: Random): Promise<string> {
  const run = freshName("run");
  const events = eventsAfter({ run, session: undefined, epoch: 1, worker: "", head: 0 }, bodies(random));
  await journal.restore({ run, tenant, session: undefined, request: asked(random), signals: [], wires: [], events });
  return run;
}

async function digestAgain(journal: Journal, run: string, random: Random): Promise<void> {
  const row = await journal.get(run);
  const events = await journal.read(run, 0, 100);
  const again = row && endOfRun({ run, request: row.request, priceOf }, events);
  if (again === undefined) return;
  const { digest } = again;
  const ownUsage = random(2) === 0 ? {} : { ownUsage: { inputTokens: random(5) } };
  await journal.keepDigest?.(run, {
    ...again,
    digest: { ...digest, ms: digest.ms + random(50), usage: { inputTokens: random(9) }, ...ownUsage },
  });
}
