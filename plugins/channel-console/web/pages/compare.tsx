import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Diffed } from "../components/diffed.tsx";
import { Figures } from "../components/figures.tsx";
import { Empty, Header } from "../components/header.tsx";
import { Icon } from "../components/icon.tsx";
import { stringify } from "../components/json.tsx";
import { endOf, partWords, percent, segmentsOf } from "../components/ribbon.tsx";
import { Status } from "../components/status.tsx";
import { useCost, Variants } from "../components/variants.tsx";
import { alignRounds, type Pair } from "../fold/compare.ts";
import { median } from "../fold/medians.ts";
import { scaleOf } from "../fold/scale.ts";
import { argumentsOf, type Call, editedOf, outputOf, type RunView } from "../fold/view.ts";
import type { RunRow } from "../state/api-types.ts";
import { slowClock } from "../state/clock.ts";
import { type LiveRun, liveRun } from "../state/live.ts";
import { useMedians } from "../state/medians.ts";
import { instructionsOf, usePrompt } from "../state/prompt.ts";
import { useResource } from "../state/resource.ts";
import { query, setQuery, to } from "../state/router.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { ago, duration, short, shortRun } from "../text/words.ts";

/** Compares two runs side by side: `/compare?a=RUN&b=RUN`. */
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
  const costs = [useCost(left), useCost(right)] as const;
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
          <Variants a={a} b={b} />
          <Figures a={left.view} b={right.view} ends={ends} usual={usual} costs={costs} />
          <h2 class="hidden-text">What they were asked</h2>
          <Asked a={a} b={b} />
          <Diffed title="Input" a={left.view.started?.input.text ?? ""} b={right.view.started?.input.text ?? ""} />
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

/** Offers the agent's run of median duration, as its usual one. */
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

function RunHead({ name, live }: { name: string; live: LiveRun }): JSX.Element {
  const { whole } = live;
  const { fork } = whole.started ?? {};
  return (
    <div class="run-card">
      <b class="letter">{name}</b>
      <a href={to("runs", live.id)}>{printable(whole.agent || "…")}</a>
      <span class="mono faint">{shortRun(live.id)}</span>
      <Status status={whole.status} />
      {fork === undefined ? null : (
        <span class="tag">
          fork of {shortRun(fork.run)} at {fork.after}
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

/** Instructions and options, which a fork may change. */
function Asked({ a, b }: { a: string; b: string }): JSX.Element | null {
  const [left, right] = [usePrompt(a, 1).data, usePrompt(b, 1).data];
  if (left === undefined || right === undefined) return null;
  return (
    <>
      <Diffed title="Instructions" a={instructionsOf(left)} b={instructionsOf(right)} />
      <Diffed title="Options" a={stringify(left.options)} b={stringify(right.options)} />
    </>
  );
}

function CallPair({ pair: { a, b } }: { pair: Pair }): JSX.Element {
  const only = a === undefined ? "only in B" : b === undefined ? "only in A" : undefined;
  const line = (call: Call | undefined) =>
    call === undefined ? "" : stringify(editedOf(call) ?? argumentsOf(call) ?? {}, 0);
  const output = (call: Call | undefined) => (call && outputOf(call)) ?? call?.error?.err ?? "";
  return (
    <div class="call-pair">
      <div class="call-pair-head">
        <Icon name="tool" size={14} /> <b class="mono">{printable(a?.name ?? b?.name ?? "")}</b>
        {only === undefined ? null : <span class="tag warning">{only}</span>}
        <span class="faint">
          {[a, b].map((call) => (call?.finished === undefined ? "–" : duration(call.finished.ms))).join(" → ")}
        </span>
      </div>
      <Diffed title="Arguments" a={line(a)} b={line(b)} />
      <Diffed title="Output" a={output(a)} b={output(b)} />
    </div>
  );
}
