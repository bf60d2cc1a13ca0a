import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { TotalsView } from "venturi/client";
import { useResource } from "../state/resource.ts";
import { query, setQuery } from "../state/router.ts";
import { listQuery } from "../state/runs.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { count, duration, money } from "../text/words.ts";
import { percent } from "./ribbon.tsx";

type Sums = TotalsView["all"];
type Bar = TotalsView["times"][number];

const groupings = ["agent", "tenant", "model", "key", "day", "cause"] as const;
/** The filter for a group's name. */
const filters: Readonly<Record<string, string>> = {
  agent: "agent",
  tenant: "tenant",
  model: "model",
  key: "key",
  cause: "code",
};

const columns: Readonly<Record<string, string>> = {
  agent: "Agent",
  tenant: "Tenant",
  model: "Model",
  key: "Key",
  day: "Day",
  cause: "Cause",
};

/** Whether a group's name can be used as a filter: not several models, no key, or an unknown cause. */
const isOne = (name: string): boolean => name !== "none" && name !== "unknown" && !name.includes(" → ");

const rate = ({ runs, failed }: Sums): string => (runs === 0 ? "–" : `${((failed / runs) * 100).toFixed(1)} %`);

/** Totals of the filtered runs, optionally grouped; selecting a range of the chart sets the time range. */
export function TotalsBar(): JSX.Element | null {
  const by = query.value.get("by") ?? "";
  const { data } = useResource(
    (signal) =>
      client.value.request<TotalsView>({
        op: "run.totals",
        path: "/v1/totals",
        query: { ...listQuery(query.value), sort: undefined, by: by === "" ? undefined : by },
        signal,
      }),
    [query.value.toString()],
    15_000,
  );
  if (data === undefined || data.all.runs === 0) return null;
  const { all, groups, times, complete } = data;
  return (
    <section class="totals" aria-label="Totals">
      <dl>
        <Figure
          name={complete ? "ended runs" : "newest ended runs"}
          value={`${count(all.runs)}${complete ? "" : "+"}`}
        />
        <Figure name="failed" value={rate(all)} />
        <Figure name="median" value={duration(all.p50)} />
        <Figure name="p95" value={duration(all.p95)} />
        <Figure name="tokens in, out" value={`${count(all.inputTokens)}, ${count(all.outputTokens)}`} />
        {all.cost === undefined ? null : <Figure name="cost" value={money(all.cost)} />}
      </dl>
      <Chart times={times} />
      <select aria-label="Group by" value={by} onChange={(event) => setQuery({ by: event.currentTarget.value })}>
        <option value="">No groups</option>
        {groupings.map((each) => (
          <option key={each} value={each}>
            {each === "cause" ? "Failures by cause" : `By ${each}`}
          </option>
        ))}
      </select>
      {groups.length === 0 ? null : <Groups groups={groups} by={by} />}
      {complete ? null : (
        <p>
          Of the newest {count(all.runs)} that fit: there are no sums by words, tool, duration, session, metadata or
          rating.
        </p>
      )}
    </section>
  );
}

const Figure = ({ name, value }: { name: string; value: string }): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

function Groups({ groups, by }: { groups: TotalsView["groups"]; by: string }): JSX.Element {
  const filter = filters[by];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="table-scroll groups" tabIndex={0} aria-label="Groups">
      <table class="figures">
        <thead>
          <tr>
            <th>{columns[by] ?? by}</th>
            <th class="num">Runs</th>
            <th class="num">Failed</th>
            <th class="num">Median</th>
            <th class="num">p95</th>
            <th class="num">Tokens</th>
            <th class="num">Cost</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={group.name}>
              <th scope="row">
                {filter === undefined || !isOne(group.name) ? (
                  printable(group.name)
                ) : (
                  <button
                    type="button"
                    class="quiet small"
                    onClick={() => setQuery({ [filter]: group.name, by: undefined })}
                  >
                    {printable(group.name)}
                  </button>
                )}
              </th>
              <td class="num mono">{count(group.runs)}</td>
              <td class="num mono">{rate(group)}</td>
              <td class="num mono">{duration(group.p50)}</td>
              <td class="num mono">{duration(group.p95)}</td>
              <td class="num mono">{count(group.outputTokens)}</td>
              <td class="num mono">{group.cost === undefined ? "–" : money(group.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Runs over time. Dragging, or two clicks with the keyboard, sets the range. */
function Chart({ times }: { times: readonly Bar[] }): JSX.Element | null {
  const element = useRef<HTMLDivElement>(null);
  const drag = useSignal<readonly [number, number] | undefined>(undefined);
  const [first, second] = times;
  if (first === undefined || second === undefined) return null;
  const width = second.at - first.at;
  const most = Math.max(1, ...times.map(({ runs }) => runs));
  const barAt = (event: MouseEvent) => {
    const box = element.current?.getBoundingClientRect();
    const share = box === undefined ? 0 : (event.clientX - box.left) / Math.max(1, box.width);
    return Math.min(times.length - 1, Math.max(0, Math.floor(share * times.length)));
  };
  const end = () => {
    const [from, to] = drag.value ?? [0, 0];
    const range = drag.value;
    drag.value = undefined;
    const [low, high] = [times[Math.min(from, to)], times[Math.max(from, to)]];
    if (range === undefined || low === undefined || high === undefined) return;
    setQuery({ since: new Date(low.at).toISOString(), until: new Date(high.at + width).toISOString() });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the range's own inputs do the same with the keyboard
    <div
      ref={element}
      class="brush"
      title="Drag to choose a time range"
      onMouseDown={(event) => (drag.value = [barAt(event), barAt(event)])}
      onMouseMove={(event) => {
        if (drag.value !== undefined) drag.value = [drag.value[0], barAt(event)];
      }}
      onMouseUp={end}
      onMouseLeave={() => (drag.value = undefined)}
    >
      {times.map(({ at, runs, failed }, index) => {
        const [from, to] = drag.value ?? [-1, -1];
        const chosen = index >= Math.min(from, to) && index <= Math.max(from, to);
        return (
          <i
            key={at}
            class={chosen ? "chosen" : ""}
            title={`${new Date(at).toLocaleString()}: ${runs} runs, ${failed} failed`}
          >
            <b style={{ height: percent(runs / most) }} />
            <em style={{ height: percent(failed / most) }} />
          </i>
        );
      })}
    </div>
  );
}
