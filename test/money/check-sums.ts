import { type UsageKey, usageKeys } from "../../src/core/journal/money.ts";
import { Random } from "../chaos/random.ts";
import { asking, type Spent } from "./client.ts";

const figures = ["generations", "failed", "cost", "inputTokens", "outputTokens"] as const;
type Sums = Record<(typeof figures)[number], number>;
type Entry = Readonly<Record<UsageKey, string>> & Sums;

/** What the service reports, by every combination of keys, against what clients saw in the events of their runs. */
export async function checkSums(urls: readonly string[], spent: readonly Spent[]) {
  const entries = spent.flatMap(entriesOf);
  const random = new Random(7);
  const violations: string[] = [];
  const partitions = Array.from({ length: 2 ** usageKeys.length - 1 }, (_, n) =>
    usageKeys.filter((_key, index) => ((n + 1) >> index) & 1),
  );
  for (const by of partitions) {
    const report = await asking(urls, random, "operator", `/v1/usage?by=${by.join(",")}`, { method: "GET" });
    const reported = report.rows as Entry[]; // as the service answers
    const expected = sumBy(entries, by);
    const told = sumBy(reported, by);
    for (const name of new Set([...expected.keys(), ...told.keys()])) {
      const [want, got] = [expected.get(name), told.get(name)];
      if (JSON.stringify(want) !== JSON.stringify(got))
        violations.push(`by ${by}: ${name} has ${JSON.stringify(got)} instead of ${JSON.stringify(want)}`);
    }
  }
  const total = sumBy(entries, []).get("[]");
  if (total === undefined || total.failed === 0) violations.push("no attempt failed at a cost, so nothing was shown");
  return { report: { partitions: partitions.length, ...total }, violations };
}

function entriesOf({ events, tenant, agent, user }: Spent): Entry[] {
  const [first] = events;
  // What a fork took over was paid for by the original.
  const inherited = first?.type === "run.started" ? (first.fork?.after ?? 0) : 0;
  let model = "";
  return events.flatMap((event) => {
    if (event.type === "round.started") model = event.model;
    const isEnd = event.type === "generation.finished" || event.type === "generation.failed";
    if (!isEnd || event.seq <= inherited) return [];
    const failed = event.type === "generation.failed";
    const told = { ...event, model: failed ? event.model : model, failed };
    return [told, ...(event.hedged === undefined ? [] : [{ ...event.hedged, failed: true }])].flatMap((each) =>
      each.usage === undefined
        ? []
        : [
            {
              day: new Date(event.at).toISOString().slice(0, 10),
              tenant,
              agent,
              model: each.model,
              key: tenant,
              user,
              generations: each.failed ? 0 : 1,
              failed: each.failed ? 1 : 0,
              cost: each.cost ?? 0,
              inputTokens: each.usage.inputTokens ?? 0,
              outputTokens: each.usage.outputTokens ?? 0,
            },
          ],
    );
  });
}

function sumBy(entries: readonly Entry[], by: readonly UsageKey[]): Map<string, Sums> {
  const sums = new Map<string, Sums>();
  for (const entry of entries) {
    const name = JSON.stringify(by.map((key) => entry[key]));
    const known = sums.get(name);
    // Costs are told to the billionth.
    const added = figures.map((figure) => [figure, Math.round(((known?.[figure] ?? 0) + entry[figure]) * 1e9) / 1e9]);
    sums.set(name, Object.fromEntries(added) as Sums); // the figures of one
  }
  return sums;
}
