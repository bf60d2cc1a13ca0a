import { VenturiError } from "../core/errors/errors.ts";
import { aligned } from "../evals/report/table.ts";
import { isSure } from "../evals/stats/bootstrap.ts";
import { intervalText, signed } from "../evals/stats/compare.ts";
import { type SplitMeasure, type SplitReport, splitReport } from "../evals/stats/split-report.ts";
import type { LoadOptions } from "../host/config/load.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { sinceOf } from "./runs.ts";
import { forOneLine, show, showJson } from "./screen.ts";

interface Asked {
  readonly split: string;
  readonly since?: string;
  readonly agent?: string;
  readonly json?: true;
  readonly runs: readonly (string | undefined)[];
}

/** `venturi compare --split MODEL`. */
export async function compareSplit(load: LoadOptions, { split, since, agent, json, runs }: Asked): Promise<void> {
  const op = "cli.compare";
  if (runs.some((run) => run !== undefined))
    throw new VenturiError(op, "invalid_input", "--split compares all runs; name no others");
  const report = await withRecordings(load, async ({ journal }) => {
    return await splitReport(journal, { split, since: sinceOf(since), agent });
  });
  if (report.members.length === 0)
    throw new VenturiError(op, "not_found", `no ended run had a model of the split ${split}`);
  if (json) showJson(process.stdout, JSON.stringify(report));
  else show(process.stdout, `${textOf(report)}\n`);
}

const labels: Readonly<Record<SplitMeasure, readonly [label: string, digits: number]>> = {
  ms: ["time, ms", 1],
  tokens: ["tokens", 1],
  cost: ["cost, USD", 6],
  rating: ["rating", 2],
  failed: ["failed", 3],
};

function textOf({ split, members, cut }: SplitReport): string {
  const [first, ...others] = members;
  if (first === undefined) return "";
  const blocks = others.map((other) => {
    const rows = (Object.keys(labels) as SplitMeasure[]).map((measure) => {
      const [label, digits] = labels[measure];
      const difference = other.differences[measure];
      const mean = (value: number | undefined) => value?.toFixed(digits) ?? "-";
      return [
        label,
        mean(first.means[measure]),
        mean(other.means[measure]),
        difference === undefined ? "-" : signed(difference.mean, digits),
        difference === undefined ? "-" : intervalText(difference, digits),
        isSure(difference) ? "differs" : "",
      ];
    });
    const counts = ["runs", String(first.runs), String(other.runs), "", "", ""];
    const sessions = ["sessions", String(first.sessions), String(other.sessions), "", "", ""];
    const head = [split, first.member, other.member, "difference", "95 % interval", ""];
    return aligned([head, counts, sessions, ...rows].map((row) => row.map(forOneLine))).join("\n");
  });
  const alone = others.length > 0 ? [] : [`all ${first.runs} runs had ${first.member}`];
  return [...blocks, ...alone, ...(cut ? ["there are more runs; only the newest were looked at"] : [])].join("\n\n");
}
