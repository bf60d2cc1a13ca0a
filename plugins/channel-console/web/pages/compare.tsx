import { diffWordsWithSpace } from "diff";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { timeParts } from "venturi/client/times";
import { alignRounds, type Pair } from "../fold/compare.ts";
import { type Medians, median, mediansOf } from "../fold/medians.ts";
import { scaleOf } from "../fold/scale.ts";
import type { Call, RunView } from "../fold/view.ts";
import { Empty, Header } from "../parts/header.tsx";
import { Icon } from "../parts/icon.tsx";
import { stringify } from "../parts/json.tsx";
import { endOf, partWords, percent, segmentsOf } from "../parts/ribbon.tsx";
import { Status } from "../parts/status.tsx";
import type { RunRow } from "../state/api-types.ts";
import { slowClock } from "../state/clock.ts";
import { type LiveRun, liveRun } from "../state/live.ts";
import { useResource } from "../state/resource.ts";
import { query, setQuery, to } from "../state/router.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { ago, count, duration, short, shortRun } from "../text/words.ts";

/** Two runs side by side: `/compare?a=RUN&b=RUN`. */
export function ComparePage(): JSX.Element {
  const a = query.value.get("a");
  const b = query.value.get("b");
  if (a === null) {
    return (
      <Empty title="Compare two runs">
        <p class="muted">Choose them in the list of runs, or fork a run.</p>
        <a class="button" href={to("runs")}>
          Runs
        </a>
      </Empty>
    );
  }
  return b === null ? <ChooseOther run={a} /> : <Both key={`${a} ${b}`} a={a} b={b} />;
}

function useLive(run: string): LiveRun {
  const live = useMemo(() => liveRun(run), [run]);
  useEffect(() => live.hold(), [live]);
  live.tick.value;
  return live;
}

function ChooseOther({ run }: { run: string }): JSX.Element {
  const live = useLive(run);
  const { agent } = live.whole;
  const { data } = useResource(
    (signal) =>
      client.value.request<{ runs: RunRow[] }>({
        op: "run.list",
        path: "/v1/runs",
        query: { limit: 30, agent: agent || undefined },
        signal,
      }),
    [agent],
  );
  return (
    <div class="page">
      <Header title={`Compare ${shortRun(run)} with …`} />
      <div class="scroll">
        <MedianChoice run={run} runs={data?.runs ?? []} />
        <ul class="plain-list">
          {(data?.runs ?? [])
            .filter((row) => row.run !== run)
            .map((row) => (
              <li key={row.run}>
                <button type="button" class="quiet" onClick={() => setQuery({ b: row.run }, "push")}>
                  <Status status={row.status} compact />
                  <span class="mono">{shortRun(row.run)}</span>
                  <span class="grow">{printable(short(row.digest?.input ?? row.asked ?? "", 90))}</span>
                  <span class="faint">{ago(row.createdAt ?? 0, slowClock.value)}</span>
                </button>
              </li>
            ))}
        </ul>
      </div>
    </div>
  );
}

function Both({ a, b }: { a: string; b: string }): JSX.Element {
  const left = useLive(a);
  const right = useLive(b);
  const usual = useMedians(left.whole.agent === right.whole.agent ? left.whole.agent : "");
  const failed = [left, right].find(({ error }) => error.value !== undefined);
  if (failed !== undefined) {
    return (
      <Empty title="These runs cannot be compared">
        <p class="muted">{printable(failed.error.value?.message ?? "")}</p>
      </Empty>
    );
  }
  const views = [left.view, right.view] as const;
  const ends = views.map((view) => endOf(view, false));
  const longest = Math.max(...views.map((view, index) => (ends[index] ?? 0) - view.startedAt), 1);
  return (
    <div class="page">
      <Header
        title="Compare"
        actions={
          <button type="button" onClick={() => setQuery({ a: b, b: a })}>
            <Icon name="compare" size={14} /> Swap
          </button>
        }
      />
      <div class="scroll">
        <div class="compare">
          <div class="pair heads">
            <RunHead name="A" live={left} />
            <RunHead name="B" live={right} />
          </div>
          <div class="overlay">
            {views.map((view, index) => (
              <OneRibbon
                key={view.run}
                name={index === 0 ? "A" : "B"}
                view={view}
                end={ends[index] ?? 0}
                longest={longest}
              />
            ))}
          </div>
          <Figures a={left.view} b={right.view} ends={ends} usual={usual} />
          <Diffed title="Input" a={left.view.input?.text ?? ""} b={right.view.input?.text ?? ""} />
          {alignRounds(left.view, right.view).map(({ round, a: one, b: other, calls }) => (
            <section key={round} class="round-pair">
              <h2>Round {round}</h2>
              {calls.map((pair, index) => (
                <CallPair key={`${pair.a?.id ?? ""} ${pair.b?.id ?? ""} ${index}`} pair={pair} />
              ))}
              <Diffed title="Text" a={one} b={other} />
            </section>
          ))}
        </div>
      </div>
    </div>
  );
}

/** The run in the middle of the agent's last ones, by duration: what is usual for it. */
function MedianChoice({ run, runs }: { run: string; runs: readonly RunRow[] }): JSX.Element | null {
  const ended = runs.filter((row) => row.run !== run && row.status === "finished" && row.digest?.ms !== undefined);
  const middle = median(ended.map(({ digest }) => digest?.ms));
  if (middle === undefined || ended.length < 3) return null;
  const far = ({ digest }: RunRow) => Math.abs((digest?.ms ?? 0) - middle);
  const [typical] = [...ended].sort((left, right) => far(left) - far(right));
  if (typical === undefined) return null;
  return (
    <p class="choose-median">
      <button type="button" onClick={() => setQuery({ b: typical.run }, "push")}>
        <Icon name="compare" size={14} /> The median of the last {ended.length}: {duration(typical.digest?.ms ?? 0)}
      </button>
    </p>
  );
}

const lastRuns = 20;

/** What is usual for the agent: medians of its last finished runs. */
function useMedians(agent: string): Medians | undefined {
  const { data } = useResource(
    async (signal) =>
      agent === ""
        ? undefined
        : await client.value.request<{ runs: RunRow[] }>({
            op: "run.list",
            path: "/v1/runs",
            query: { agent, status: "finished", limit: lastRuns },
            signal,
          }),
    [agent],
  );
  const digests = (data?.runs ?? []).flatMap(({ digest }) => (digest === undefined ? [] : [digest]));
  return digests.length < 3 ? undefined : mediansOf(digests);
}

function RunHead({ name, live }: { name: string; live: LiveRun }): JSX.Element {
  const { whole } = live;
  return (
    <div class="run-card">
      <b class="letter">{name}</b>
      <a href={to("runs", live.id)}>{printable(whole.agent || "…")}</a>
      <span class="mono faint">{shortRun(live.id)}</span>
      <Status status={whole.status} />
      {whole.fork === undefined ? null : (
        <span class="tag">
          fork of {shortRun(whole.fork.run)} at {whole.fork.after}
        </span>
      )}
      {whole.status === "waiting" ? (
        <a class="button" href={to("runs", live.id)}>
          Answer
        </a>
      ) : null}
    </div>
  );
}

function OneRibbon({
  name,
  view,
  end,
  longest,
}: {
  name: string;
  view: RunView;
  end: number;
  longest: number;
}): JSX.Element {
  const scale = scaleOf([], view.startedAt, view.startedAt + longest);
  return (
    <div class="overlay-row">
      <b class="letter">{name}</b>
      <div class="ribbon">
        {segmentsOf(view, end).map(({ part, from, to: until }) => {
          const left = scale.x(from);
          return (
            <i
              class={`seg p-${part}`}
              title={`${partWords[part]}: ${duration(until - from)}`}
              style={{ left: percent(left), width: percent(scale.x(until) - left) }}
            />
          );
        })}
      </div>
      <span class="num mono">{duration(Math.max(0, end - view.startedAt))}</span>
    </div>
  );
}

interface FiguresProps {
  readonly a: RunView;
  readonly b: RunView;
  readonly ends: readonly number[];
  readonly usual: Medians | undefined;
}

function Figures({ a, b, ends, usual }: FiguresProps): JSX.Element {
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
          <td class="num mono">{printable(short(a.config ?? "–", 10))}</td>
          <td class="num mono">{printable(short(b.config ?? "–", 10))}</td>
          <td class="num">{a.config === b.config ? <span class="faint">same</span> : "differ"}</td>
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

function CallPair({ pair: { a, b } }: { pair: Pair }): JSX.Element {
  const only = a === undefined ? "only in B" : b === undefined ? "only in A" : undefined;
  const line = (call: Call | undefined) =>
    call === undefined ? "" : stringify(call.approval?.edited ?? call.arguments ?? {}, 0);
  const output = (call: Call | undefined) => call?.output ?? call?.error?.err ?? "";
  return (
    <div class="call-pair">
      <div class="call-pair-head">
        <Icon name="tool" size={14} /> <b class="mono">{printable(a?.name ?? b?.name ?? "")}</b>
        {only === undefined ? null : <span class="tag warning">{only}</span>}
        <span class="faint">{[a?.ms, b?.ms].map((ms) => (ms === undefined ? "–" : duration(ms))).join(" → ")}</span>
      </div>
      <Diffed title="Arguments" a={line(a)} b={line(b)} />
      <Diffed title="Output" a={output(a)} b={output(b)} />
    </div>
  );
}

const longestDiff = 20_000;

/** Words that only one of the two has are marked, with a sign and not by colour alone. */
function Diffed({ title, a, b }: { title: string; a: string; b: string }): JSX.Element | null {
  const changes = useMemo(
    () => (a.length + b.length > longestDiff ? undefined : diffWordsWithSpace(a, b, { timeout: 60 })),
    [a, b],
  );
  if (a === "" && b === "") return null;
  let body: ComponentChildren;
  if (a === b) body = <span class="pre-wrap">{printable(short(a, 2000))}</span>;
  else if (changes === undefined) {
    body = (
      <>
        <del class="pre-wrap">{printable(short(a, 4000))}</del>
        <ins class="pre-wrap">{printable(short(b, 4000))}</ins>
      </>
    );
  } else {
    body = changes.map(({ value, added, removed }) =>
      added ? <ins>{printable(value)}</ins> : removed ? <del>{printable(value)}</del> : <span>{printable(value)}</span>,
    );
  }
  return (
    <div class="diffed">
      <h3>
        {title} {a === b ? <span class="faint">same</span> : null}
      </h3>
      <div class={a === b ? "diff same" : "diff"}>{body}</div>
    </div>
  );
}
