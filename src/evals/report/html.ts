import type { Measured, RunSet } from "../scoring/run-set.ts";
import { figure, intervalText, type ScorerSummary, type Summary, signed } from "../stats/compare.ts";
import { escapeMarkup } from "./markup.ts";

export interface Report {
  readonly found: RunSet;
  readonly summary: Summary;
  readonly against: { readonly name: string; readonly items: readonly Measured[] } | undefined;
}

/** One self-contained file without external scripts, fonts or pictures. */
export function htmlReport({ found, summary, against }: Report): string {
  const before = new Map(against?.items.map((item) => [item.id, item]));
  const state = summary.failures.length === 0 ? "passed" : "failed";
  const facts = [
    `${found.items.length} runs`,
    `config ${found.config}`,
    ...(found.agent === undefined ? [] : [`agent ${found.agent}`]),
    ...(found.model === undefined ? [] : [`model ${found.model}`]),
    ...(against === undefined ? [] : [`against ${against.name}`]),
    new Date(found.at).toISOString().slice(0, 19).replace("T", " "),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeMarkup(found.set)}: ${state}</title><style>${style}</style></head><body><main>
<h1>${escapeMarkup(found.set)} <span class="tag ${state}">${state}</span></h1>
<p class="dim">${facts.map(escapeMarkup).join(" · ")}</p>
${summary.failures.length === 0 ? "" : `<ul class="failures">${summary.failures.map((line) => `<li>${escapeMarkup(line)}</li>`).join("")}</ul>`}
<h2>Scores</h2>
<table><thead><tr><th>scorer</th><th class="n">mean</th>${against === undefined ? "" : `<th class="n">${escapeMarkup(against.name)}</th><th class="n">difference</th><th>95 % interval</th><th></th>`}<th class="n">items</th></tr></thead>
<tbody>${summary.scorers.map((row) => scorerRow(row, against !== undefined)).join("\n")}
${summary.measures.map((row) => measureRow(row, against !== undefined)).join("\n")}</tbody></table>
${changedList(summary)}
<h2>Items</h2>
<table><thead><tr><th>item</th>${found.scorers.map((name) => `<th class="n">${escapeMarkup(name)}</th>`).join("")}<th class="n">ms</th><th class="n">tokens</th></tr></thead>
<tbody>${found.items.map((item) => itemRows(item, found.scorers, before.get(item.id))).join("\n")}</tbody></table>
</main></body></html>
`;
}

function scorerRow({ scorer, mean, baseline, difference, verdict, items }: ScorerSummary, compared: boolean): string {
  const more = !compared
    ? ""
    : `<td class="n">${baseline === undefined ? "-" : figure(baseline)}</td><td class="n">${difference === undefined ? "-" : signed(difference.mean)}</td><td>${difference === undefined ? "-" : `${bar(difference)} <span class="dim">${intervalText(difference)}</span>`}</td><td><span class="tag ${verdict}">${verdict === "unknown" ? "" : verdict}</span></td>`;
  return `<tr><th>${escapeMarkup(scorer)}</th><td class="n">${figure(mean)}</td>${more}<td class="n">${items}</td></tr>`;
}

function measureRow({ name, mean, baseline, difference }: Summary["measures"][number], compared: boolean): string {
  if (Number.isNaN(mean)) return "";
  const digits = name === "cost" ? 6 : 1;
  const more = !compared
    ? ""
    : `<td class="n">${baseline?.toFixed(digits) ?? "-"}</td><td class="n">${difference === undefined ? "-" : signed(difference.mean, digits)}</td><td class="dim">${difference === undefined ? "-" : intervalText(difference, digits)}</td><td></td>`;
  return `<tr class="dim"><th>${name === "cost" ? "cost, USD" : name}</th><td class="n">${mean.toFixed(digits)}</td>${more}<td></td></tr>`;
}

/** Draws the interval from -1 to 1, with zero in the middle. */
function bar({ mean, low, high }: { readonly mean: number; readonly low: number; readonly high: number }): string {
  const x = (value: number) => (60 + Math.max(-1, Math.min(1, value)) * 58).toFixed(1);
  return `<svg width="120" height="12" role="img" aria-label="${intervalText({ mean, low, high })}"><line x1="60" x2="60" y1="0" y2="12" class="zero"/><line x1="${x(low)}" x2="${x(high)}" y1="6" y2="6" class="range"/><circle cx="${x(mean)}" cy="6" r="3"/></svg>`;
}

function changedList({ scorers }: Summary): string {
  const lines = scorers.flatMap(({ scorer, fell, rose }) => [
    ...fell.map(
      (id) => `<li class="worse">${escapeMarkup(scorer)} fell: <a href="#${anchor(id)}">${escapeMarkup(id)}</a></li>`,
    ),
    ...rose.map(
      (id) => `<li class="better">${escapeMarkup(scorer)} rose: <a href="#${anchor(id)}">${escapeMarkup(id)}</a></li>`,
    ),
  ]);
  return lines.length === 0 ? "" : `<h2>Changed side</h2><ul class="changed">${lines.join("")}</ul>`;
}

function itemRows(item: Measured, scorers: readonly string[], before: Measured | undefined): string {
  const cells = scorers.map((name) => {
    const given = item.scores[name];
    if (given === undefined) return '<td class="n dim">-</td>';
    return `<td class="n ${given.score < 0.5 ? "bad" : ""}">${figure(given.score)}</td>`;
  });
  const whys = Object.entries(item.scores).flatMap(([name, { why }]) => (why === undefined ? [] : [`${name}: ${why}`]));
  const judged = Object.entries(item.scores).flatMap(([name, { runs = [] }]) => runs.map((run) => `${name}: ${run}`));
  const text = (name: string, value: string) => `<dt>${name}</dt><dd>${escapeMarkup(value)}</dd>`;
  const differs = before !== undefined && before.output !== item.output;
  const details = [
    text("run", item.run),
    text("asked", item.asked),
    text("answer", item.ok ? item.output : `failed: ${item.code ?? ""} ${item.output}`),
    ...(differs ? [text("before", before.output)] : []),
    ...(whys.length === 0 ? [] : [text("why", whys.join("\n"))]),
    ...(judged.length === 0 ? [] : [text("judged in", judged.join("\n"))]),
  ];
  const name = item.repeat > 1 ? `${item.id} (${item.repeat})` : item.id;
  return `<tr${item.repeat === 1 ? ` id="${anchor(item.id)}"` : ""}><td><details><summary>${escapeMarkup(name)}${differs ? ' <span class="tag">differs</span>' : ""}</summary><dl>${details.join("")}</dl></details></td>${cells.join("")}<td class="n">${item.ms}</td><td class="n">${item.tokens}</td></tr>`;
}

const anchor = (id: string): string => `item-${encodeURIComponent(id)}`;

const style = `
:root{color-scheme:light dark;--line:#8884;--dim:#707070;--good:#16803c;--bad:#c22121}
@media (prefers-color-scheme:dark){:root{--dim:#9a9a9a;--good:#4ade80;--bad:#f87171}}
body{font:15px/1.5 system-ui,sans-serif;margin:0;padding:24px}main{max-width:1100px;margin:auto}
h1{font-size:24px;margin:0}h2{font-size:16px;margin:28px 0 8px}table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:6px 10px;border-bottom:1px solid var(--line);vertical-align:top;font-weight:normal}
thead th{color:var(--dim);font-size:13px}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.dim{color:var(--dim)}
.tag{font-size:12px;padding:1px 8px;border-radius:9px;border:1px solid var(--line)}.tag:empty{display:none}
.passed,.better{color:var(--good)}.failed,.worse,.bad,.failures{color:var(--bad)}summary{cursor:pointer}
dl{margin:8px 0 8px 16px;display:grid;grid-template-columns:70px 1fr;gap:2px 12px}dt{color:var(--dim)}dd{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}
.zero{stroke:var(--dim);stroke-dasharray:2 2}.range{stroke:currentColor;stroke-width:2}circle{fill:currentColor}svg{vertical-align:middle}tr:target{background:#fde04733}`;
