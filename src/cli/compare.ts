import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import type { Timing } from "../core/run/event-fields.ts";
import type { CallPair, ComparedCall, ComparedRun, Comparison } from "../host/recordings/compare.ts";
import { duration } from "../serve/why/tell.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { dollars, forOneLine, show, showJson } from "./screen.ts";

/** `venturi compare A B`: two runs side by side; `--split`: all runs of a split's members. */
export function configure(command: Command): void {
  command
    .argument("[a]", "a run's id")
    .argument("[b]", "the id of another run")
    .option("--split <model>", "instead, compare the members of this entry of models over all its runs")
    .option("--since <time>", 'with --split: only runs started since then: "2h", "7d", or a date')
    .option("--agent <name>", "with --split: only runs of this agent")
    .option("--json", "print the comparison as JSON")
    .addHelpText("after", example("venturi compare run_0m5x… run_0m6a…", "venturi compare --split main --since 7d"))
    .action(async (a: string | undefined, b: string | undefined, options: Options) => {
      if (options.split !== undefined) {
        const { compareSplit } = await import("./compare-split.ts");
        return await compareSplit(recordedOptionsOf(command), { ...options, split: options.split, runs: [a, b] });
      }
      if (a === undefined || b === undefined)
        throw new VenturiError("cli.compare", "invalid_input", "name two runs, or a split with --split");
      const { withRecordings } = await import("../host/with-recordings.ts");
      const { compareRuns } = await import("../host/recordings/compare.ts");
      const comparison = await withRecordings(recordedOptionsOf(command), async (recordings) =>
        compareRuns(await recordings.events(a), await recordings.events(b)),
      );
      if (options.json) showJson(process.stdout, JSON.stringify(comparison));
      else show(process.stdout, render(comparison));
    });
}

interface Options {
  readonly split?: string;
  readonly since?: string;
  readonly agent?: string;
  readonly json?: true;
}

type Row = readonly [name: string, a: string, b: string, difference: string];

export function render({ a, b, calls, outputDiffersAt }: Comparison): string {
  const rows: Row[] = [
    ["", a.run, b.run, ""],
    textRow("agent", a.agent, b.agent),
    textRow("status", statusOf(a), statusOf(b)),
    textRow("models", a.models.join(", "), b.models.join(", ")),
    textRow("config", a.config?.slice(0, 12) ?? "", b.config?.slice(0, 12) ?? ""),
    textRow("input", cut(a.input), cut(b.input)),
    timeRow("time", a.ms, b.ms),
    ...partRows(a.timing, b.timing),
    countRow("input tokens", a.usage.inputTokens, b.usage.inputTokens),
    countRow("output tokens", a.usage.outputTokens, b.usage.outputTokens),
    ...costRows(a, b),
    ...inheritedRows(a.inherited, b.inherited),
    countRow("rounds", a.rounds, b.rounds),
    countRow("tool calls", a.calls.length, b.calls.length),
  ];
  const lines = [...table(rows), ...calls.flatMap(callLines)];
  lines.push(outputDiffersAt === undefined ? "the answers are the same" : answersDiffer(a, b, outputDiffersAt));
  return `${lines.join("\n")}\n`;
}

/** Cost, if known; including called agents, if any. */
function costRows(a: ComparedRun, b: ComparedRun): Row[] {
  const row = (name: string, left: number | undefined, right: number | undefined): Row[] =>
    left === undefined && right === undefined
      ? []
      : [[name, dollars(left), dollars(right), left === undefined || right === undefined ? "" : change(left, right)]];
  return [...row("cost", a.cost, b.cost), ...row("total cost", a.totalCost, b.totalCost)];
}

const inheritedRows = (a: ComparedRun["inherited"], b: ComparedRun["inherited"]): Row[] =>
  a === undefined && b === undefined
    ? []
    : [
        countRow("inherited input", a?.inputTokens, b?.inputTokens),
        countRow("inherited output", a?.outputTokens, b?.outputTokens),
      ];

const statusOf = ({ status, finish }: ComparedRun): string => (finish === "" ? status : `${status} (${finish})`);

const textRow = (name: string, a: string, b: string): Row => [name, a, b, a === b ? "" : "differs"];

const timeRow = (name: string, a: number, b: number): Row => [
  name,
  duration(a),
  duration(b),
  Math.abs(b - a) < 1 ? "" : change(a, b),
];

const countRow = (name: string, a = 0, b = 0): Row => [
  name,
  String(a),
  String(b),
  a === b ? "" : `${b > a ? "+" : ""}${b - a}`,
];

/** Parts that take at least a millisecond in either run. */
function partRows(a: Timing | undefined, b: Timing | undefined): Row[] {
  if (a === undefined || b === undefined) return [];
  return (Object.keys({ ...a, ...b }) as (keyof Timing)[])
    .map((part) => ({ part, before: a[part] ?? 0, after: b[part] ?? 0 }))
    .filter(({ before, after }) => before >= 1 || after >= 1)
    .map(({ part, before, after }) => timeRow(`  ${part}`, before, after));
}

function change(a: number, b: number): string {
  if (a <= 0) return "";
  const percent = Math.round(((b - a) / a) * 100);
  return percent === 0 ? "" : `${percent > 0 ? "+" : ""}${percent} %`;
}

function table(rows: readonly Row[]): string[] {
  const clean = rows.map((row) => row.map((cell) => forOneLine(cell)));
  const widths = [0, 1, 2].map((column) => Math.max(...clean.map((row) => row[column]?.length ?? 0)));
  return clean.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

const marks = { none: "=", result: "~", arguments: "~", onlyA: "A", onlyB: "B" } as const;

function callLines({ a, b, difference }: CallPair): string[] {
  const call = a ?? b;
  if (call === undefined) return [];
  const head = `${marks[difference]} round ${call.round}  ${call.name}`;
  switch (difference) {
    case "none":
      return [line(head, call)];
    case "onlyA":
    case "onlyB":
      return [`${line(head, call)}  only in ${difference === "onlyA" ? "A" : "B"}`];
    default:
      return [forOneLine(head), ...(a ? [line("    A", a)] : []), ...(b ? [line("    B", b)] : [])];
  }
}

const line = (head: string, { arguments: input, output, ok }: ComparedCall): string =>
  forOneLine(`${head} ${cut(input)} → ${ok === undefined ? "no result" : `${ok ? "" : "failed: "}${cut(output)}`}`);

const answersDiffer = (a: ComparedRun, b: ComparedRun, at: number): string =>
  `the answers differ from character ${at + 1} on:\n  A ${forOneLine(around(a.output, at))}\n  B ${forOneLine(around(b.output, at))}`;

const around = (text: string, at: number): string => {
  const from = Math.max(0, at - 20);
  return `${from > 0 ? "…" : ""}${text.slice(from, at + 60)}${text.length > at + 60 ? "…" : ""}`;
};

const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
