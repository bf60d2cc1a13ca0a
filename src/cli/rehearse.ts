import { VenturiError } from "../core/errors/errors.ts";
import { casesOf } from "../evals/dataset/cases.ts";
import { type Dataset, readDataset } from "../evals/dataset/read.ts";
import { evaluate } from "../evals/evaluate.ts";
import { tableText } from "../evals/report/table.ts";
import type { RunSet } from "../evals/scoring/run-set.ts";
import { summarize } from "../evals/stats/compare.ts";
import type { Config, LoadOptions } from "../host/config/load.ts";
import { sourceOf } from "../host/recordings/run-source.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { openBench } from "./eval-bench.ts";
import { show } from "./screen.ts";

const most = 1_000;

/**
 * Replays the last runs of each agent on a new configuration before it replaces the old one, and compares answers and calls. Uses a
 * separate journal in this process, so that the service is not affected. Returns why it is worse than what was recorded.
 */
export async function rehearse(load: LoadOptions, config: Config, shadow: string): Promise<string[]> {
  const count = Number(shadow.startsWith("last:") ? shadow.slice(5) : Number.NaN);
  if (!Number.isInteger(count) || count < 1 || count > most)
    throw new VenturiError("cli.reload", "invalid_input", `--shadow: expected last:N, with N from 1 to ${most}`);
  const failures: string[] = [];
  for (const agent of Object.keys(config.agents))
    failures.push(...(await rehearseAgent({ load, config, agent, count })));
  return failures;
}

interface Rehearsal {
  readonly load: LoadOptions;
  readonly config: Config;
  readonly agent: string;
  readonly count: number;
}

async function rehearseAgent({ load, config, agent, count }: Rehearsal): Promise<string[]> {
  const name = `reload-${agent.replaceAll(/[^\w.-]/g, "_")}`;
  const runs = { agent, outcome: "finished", limit: count };
  const set: Dataset = readDataset(
    "reload.yaml",
    JSON.stringify({ name, scorers: ["exact", "calls"], items: [{ runs }] }),
  );
  const cases = await withRecordings(load, async (recordings) => {
    const { runs: any } = await recordings.list({ agent, outcome: "finished", limit: 1 });
    return any.length === 0 ? [] : await casesOf(set, sourceOf(recordings));
  });
  if (cases.length === 0) return [];
  const bench = await openBench({ load, name, variant: `${config.hash}:${Date.now()}`, cases });
  try {
    const { journal, runs: started } = bench.host;
    const { scorers, unanswered, folder } = set;
    const done = await evaluate({ journal, runs: started, cases, scorers, unanswered, folder, key: bench.key });
    bench.finish();
    const found: RunSet = {
      ...{ venturi: "runset", set: name, name: "reload", at: Date.now(), config: config.hash },
      ...{ scorers: ["exact", "calls"], skipped: [], items: [...done.items] },
    };
    const summary = summarize(found, done.recorded, { thresholds: {} });
    show(process.stderr, `the last ${cases.length} runs of ${agent} on the new configuration:\n`);
    show(process.stderr, tableText(found, summary, "recorded"));
    const failed = summary.failed === 0 ? [] : [`${summary.failed} of ${found.items.length} runs failed`];
    return [...summary.failures, ...failed].map((failure) => `${agent}: ${failure}`);
  } finally {
    await bench.host.close();
  }
}
