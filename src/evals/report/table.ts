import type { RunSet } from "../scoring/run-set.ts";
import { figure, intervalText, type Summary, signed } from "../stats/compare.ts";

const shown = 10;

/** The results as text for the terminal. */
export function tableText(found: RunSet, summary: Summary, against: string | undefined): string {
  const head = ["", "mean", ...(against === undefined ? [] : [against, "difference", "95 % interval", ""]), "items"];
  const rows = summary.scorers.map(({ scorer, mean, baseline, difference, verdict, items }) => [
    scorer,
    figure(mean),
    ...(against === undefined
      ? []
      : [
          baseline === undefined ? "-" : figure(baseline),
          difference === undefined ? "-" : signed(difference.mean),
          difference === undefined ? "-" : intervalText(difference),
          verdict === "unknown" ? "" : verdict,
        ]),
    String(items),
  ]);
  const measures = summary.measures
    .filter(({ mean }) => !Number.isNaN(mean))
    .map(({ name, mean, baseline, difference }) => {
      const digits = name === "cost" ? 6 : 1;
      return [
        name === "cost" ? "cost, USD" : name,
        mean.toFixed(digits),
        ...(against === undefined
          ? []
          : [
              baseline === undefined ? "-" : baseline.toFixed(digits),
              difference === undefined ? "-" : signed(difference.mean, digits),
              difference === undefined ? "-" : intervalText(difference, digits),
              "",
            ]),
        "",
      ];
    });
  const lines = aligned([head, ...rows, ...measures]);
  for (const { scorer, fell, rose, agreement } of summary.scorers) {
    if (fell.length > 0) lines.push(`${scorer} fell: ${listed(fell)}`);
    if (rose.length > 0) lines.push(`${scorer} rose: ${listed(rose)}`);
    if (agreement !== undefined)
      lines.push(
        `${scorer} agrees with people in ${Math.round(agreement.share * 100)} % of ${agreement.pairs} pairs of recorded runs`,
      );
  }
  const { failed, unanswered } = summary;
  lines.push(`${found.items.length} runs, ${failed} failed, ${unanswered} calls that the recorded runs never made`);
  return `${[...lines, ...summary.failures.map((failure) => `FAILED ${failure}`)].join("\n")}\n`;
}

const listed = (ids: readonly string[]): string =>
  `${ids.slice(0, shown).join(", ")}${ids.length > shown ? ` and ${ids.length - shown} more` : ""}`;

export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(cell).join("  ").trimEnd());
}
