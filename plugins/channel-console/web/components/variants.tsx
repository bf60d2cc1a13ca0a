import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { RunRow } from "../state/api-types.ts";
import { type LiveRun, liveRun } from "../state/live.ts";
import { useResource } from "../state/resource.ts";
import { query, setQuery, to } from "../state/router.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { count, duration, money, short, shortRun } from "../text/words.ts";
import { endOf } from "./ribbon.tsx";
import { Status } from "./status.tsx";

/** A run's cost, once it has ended and prices are known. */
export function useCost({ id, whole }: LiveRun): number | undefined {
  const { data } = useResource(
    async (signal) =>
      whole.endedAt === undefined
        ? undefined
        : await client.value.request<RunRow>({ op: "run.get", path: `/v1/runs/${encodeURIComponent(id)}`, signal }),
    [id, whole.endedAt],
  );
  return data?.digest?.cost;
}

/** All variants of a run side by side: `?v=RUN,RUN`. One of them is compared in full. */
export function Variants({ a, b }: { a: string; b: string }): JSX.Element | null {
  const others = (query.value.get("v") ?? "").split(",").filter(Boolean);
  if (others.length < 2) return null;
  return (
    <div class="table-scroll">
      <table class="figures variants">
        <thead>
          <tr>
            <th>Variant</th>
            <th>Model</th>
            <th class="num">Time</th>
            <th class="num">Tokens</th>
            <th class="num">Cost</th>
            <th>Answer</th>
            <th>
              <span class="hidden-text">Compare</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {[a, ...others.slice(0, 8)].map((run, index) => (
            <Variant
              key={run}
              run={run}
              name={index === 0 ? "Original" : String(index)}
              shown={run === b || index === 0}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Variant({ run, name, shown }: { run: string; name: string; shown: boolean }): JSX.Element {
  const live = useMemo(() => liveRun(run), [run]);
  useEffect(() => live.hold(), [live]);
  live.tick.value;
  const { whole } = live;
  const cost = useCost(live);
  const models = new Set(whole.rounds.flatMap(({ attempts }) => attempts.map(({ model }) => model)));
  return (
    <tr>
      <th scope="row">
        <Status status={whole.status} compact /> {name} <a href={to("runs", run)}>{shortRun(run)}</a>
      </th>
      <td class="mono">{printable([...models].join(", "))}</td>
      <td class="num mono">{whole.head === 0 ? "" : duration(endOf(whole, false) - whole.startedAt)}</td>
      <td class="num mono">{whole.usage?.outputTokens === undefined ? "" : count(whole.usage.outputTokens)}</td>
      <td class="num mono">{cost === undefined ? "–" : money(cost)}</td>
      <td dir="auto">{printable(short(whole.end?.output ?? "", 120))}</td>
      <td>
        {shown ? null : (
          <button type="button" class="quiet small" onClick={() => setQuery({ b: run })}>
            Compare
          </button>
        )}
      </td>
    </tr>
  );
}
