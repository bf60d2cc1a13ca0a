import type { JSX } from "preact";
import { timeParts } from "venturi/client/times";
import type { Medians } from "../fold/medians.ts";
import type { RunView } from "../fold/view.ts";
import { printable } from "../text/printable.ts";
import { count, duration, money, short } from "../text/words.ts";
import { partWords } from "./ribbon.tsx";

interface FiguresProps {
  readonly a: RunView;
  readonly b: RunView;
  readonly ends: readonly number[];
  readonly usual: Medians | undefined;
  /** USD, if prices are known. */
  readonly costs: readonly [number | undefined, number | undefined];
}

/** Time, tokens and cost of two runs side by side. */
export function Figures({ a, b, ends, usual, costs }: FiguresProps): JSX.Element {
  const totals = [a.times.totals(ends[0]), b.times.totals(ends[1])] as const;
  const rows: readonly {
    word: string;
    values: readonly [number | undefined, number | undefined];
    usual?: number | undefined;
    form: (value: number) => string;
  }[] = [
    {
      word: "Total",
      values: [(ends[0] ?? 0) - a.startedAt, (ends[1] ?? 0) - b.startedAt],
      usual: usual?.ms,
      form: duration,
    },
    ...timeParts.map((part) => ({
      word: partWords[part],
      values: [totals[0][part], totals[1][part]] as const,
      usual: usual?.parts[part],
      form: duration,
    })),
    {
      word: "Input tokens",
      values: [a.usage?.inputTokens, b.usage?.inputTokens],
      usual: usual?.inputTokens,
      form: count,
    },
    {
      word: "Output tokens",
      values: [a.usage?.outputTokens, b.usage?.outputTokens],
      usual: usual?.outputTokens,
      form: count,
    },
    { word: "Cost", values: costs, usual: usual?.cost, form: money },
    { word: "Rounds", values: [a.rounds.length, b.rounds.length], usual: usual?.rounds, form: String },
    { word: "Tool calls", values: [a.calls.size, b.calls.size], form: String },
  ];
  const models = (view: RunView) =>
    [...new Set(view.rounds.flatMap(({ attempts }) => attempts.map(({ model }) => model)))].join(", ");
  return (
    <table class="figures">
      <thead>
        <tr>
          <th>
            <span class="hidden-text">Figure</span>
          </th>
          <th class="num">A</th>
          <th class="num">B</th>
          <th class="num">Difference</th>
          {usual === undefined ? null : (
            <th class="num usual" title={`Medians of the agent's last ${usual.count} finished runs`}>
              Usual
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows
          .filter(({ values }) => (values[0] ?? 0) !== 0 || (values[1] ?? 0) !== 0)
          .map(({ word, values: [one, other], usual: middle, form }) => (
            <tr key={word}>
              <th scope="row">{word}</th>
              <td class="num mono">{one === undefined ? "–" : form(one)}</td>
              <td class="num mono">{other === undefined ? "–" : form(other)}</td>
              <td class="num mono">{one === undefined || other === undefined ? "" : difference(other - one, form)}</td>
              {usual === undefined ? null : (
                <td class="num mono muted usual">{middle === undefined ? "" : form(middle)}</td>
              )}
            </tr>
          ))}
        <tr>
          <th scope="row">Models</th>
          <td class="num mono long">{printable(models(a))}</td>
          <td class="num mono long">{printable(models(b))}</td>
          <td class="num">{models(a) === models(b) ? <span class="faint">same</span> : "differ"}</td>
          {usual === undefined ? null : <td class="usual" />}
        </tr>
        <tr>
          <th scope="row">Config</th>
          <td class="num mono">{printable(short(a.started?.config ?? "–", 10))}</td>
          <td class="num mono">{printable(short(b.started?.config ?? "–", 10))}</td>
          <td class="num">{a.started?.config === b.started?.config ? <span class="faint">same</span> : "differ"}</td>
          {usual === undefined ? null : <td class="usual" />}
        </tr>
      </tbody>
    </table>
  );
}

function difference(value: number, form: (value: number) => string): JSX.Element {
  if (value === 0) return <span class="faint">same</span>;
  return (
    <span class={value > 0 ? "more" : "less"}>
      {value > 0 ? "+" : "−"}
      {form(Math.abs(value))}
    </span>
  );
}
