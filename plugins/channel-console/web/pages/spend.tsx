import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Empty, Header } from "../components/header.tsx";
import { useResource } from "../state/resource.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { count } from "../text/words.ts";

interface Figures {
  readonly generations: number;
  readonly failed: number;
  readonly unpriced: number;
  readonly cost?: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

type Row = Figures & Readonly<Partial<Record<Key, string>>>;

interface Report {
  readonly rows: readonly Row[];
  readonly total: Figures;
}

const keys = ["model", "agent", "tenant", "key", "user", "day"] as const;
type Key = (typeof keys)[number];
const spans = { "1d": "a day", "7d": "a week", "4w": "four weeks" } as const;
/** For more rows use `venturi usage` or the CSV. */
const most = 200;

/** Usage and cost by one key at a time, from `/v1/usage`. */
export function SpendPage(): JSX.Element {
  const by = useSignal<Key>("model");
  const since = useSignal<keyof typeof spans>("7d");
  const path = `/v1/usage?by=${by.value}&since=${since.value}`;
  const { data, error, loading } = useResource(
    (signal) => client.value.request<Report>({ op: "usage.report", path, signal }),
    [path],
    10_000,
  );
  if (data === undefined && loading) return <div class="page" aria-busy="true" />;
  const rows = (data?.rows ?? []).toSorted((left, right) => (right.cost ?? 0) - (left.cost ?? 0));
  const ordered = by.value === "day" ? rows.toSorted((a, b) => ((a.day ?? "") < (b.day ?? "") ? 1 : -1)) : rows;
  const total = data?.total;
  return (
    <div class="page spend-page">
      <Header title="Spend">
        <span class="fact">{total === undefined ? "" : dollars(total)}</span>
        <label>
          By{" "}
          <select value={by.value} onChange={({ currentTarget }) => (by.value = currentTarget.value as Key)}>
            {keys.map((key) => (
              <option key={key}>{key}</option>
            ))}
          </select>
        </label>
        <label>
          Over{" "}
          <select
            value={since.value}
            onChange={({ currentTarget }) => (since.value = currentTarget.value as keyof typeof spans)}
          >
            {Object.entries(spans).map(([value, word]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
        </label>
      </Header>
      {ordered.length === 0 || total === undefined ? (
        <Empty title="Nothing was spent">
          <p class="muted">
            {error === undefined ? "No generation has ended in this time." : printable(error.message)}
          </p>
        </Empty>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section class="scroll table-scroll" tabIndex={0} aria-label="Spend">
          <table class="spend">
            <thead>
              <tr>
                <th scope="col">{by.value}</th>
                <th scope="col">Cost</th>
                <th scope="col">Generations</th>
                <th scope="col">Failed</th>
                <th scope="col">Tokens in</th>
                <th scope="col">Tokens out</th>
              </tr>
            </thead>
            <tbody>
              {ordered.slice(0, most).map((row) => (
                <Line key={row[by.value]} name={row[by.value] || "(none)"} figures={row} />
              ))}
            </tbody>
            <tfoot>
              <Line name={ordered.length > most ? `All ${count(ordered.length)}` : "Total"} figures={total} />
            </tfoot>
          </table>
        </section>
      )}
    </div>
  );
}

function Line({ name, figures }: { name: string; figures: Figures }): JSX.Element {
  const { generations, failed, inputTokens, outputTokens } = figures;
  return (
    <tr>
      <th scope="row">{printable(name)}</th>
      <td>{dollars(figures)}</td>
      <td>{count(generations)}</td>
      <td>{count(failed)}</td>
      <td>{count(inputTokens)}</td>
      <td>{count(outputTokens)}</td>
    </tr>
  );
}

/** Shows two significant digits for small amounts, and marks a sum with unknown amounts. */
function dollars({ cost, unpriced }: Figures): string {
  if (cost === undefined) return "unknown";
  const digits = cost === 0 || cost >= 1 ? 2 : Math.min(9, 1 - Math.floor(Math.log10(cost)));
  return `$${cost.toFixed(digits)}${unpriced > 0 ? ` + ${count(unpriced)} unpriced` : ""}`;
}
