import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import type { RunView } from "../fold/view.ts";
import { Connection } from "../parts/connection.tsx";
import { Conversation } from "../parts/conversation.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { askToErase } from "../parts/erase.ts";
import { EventTable } from "../parts/events.tsx";
import { Empty, Header } from "../parts/header.tsx";
import { Icon } from "../parts/icon.tsx";
import { Inspector } from "../parts/inspector.tsx";
import { bindPage } from "../parts/palette.tsx";
import { PauseButton } from "../parts/pause-button.tsx";
import { Rating } from "../parts/rating.tsx";
import { endOf, Ribbon, scaleFor } from "../parts/ribbon.tsx";
import { RunFacts } from "../parts/run-facts.tsx";
import { Scrubber } from "../parts/scrubber.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { StickyScroll } from "../parts/sticky-scroll.tsx";
import { askToStop, stop } from "../parts/stop.ts";
import { tabs } from "../parts/tabs.tsx";
import { TraceLink } from "../parts/trace-link.tsx";
import { Waterfall } from "../parts/waterfall.tsx";
import { WhyLine } from "../parts/why.tsx";
import type { RunRow } from "../state/api-types.ts";
import { useOwner } from "../state/foreign.ts";
import { type LiveRun, liveRun } from "../state/live.ts";
import { type Resource, useResource } from "../state/resource.ts";
import { go, query, setQuery, to } from "../state/router.ts";
import { client, may, mayHere } from "../state/session.ts";
import { useTitle } from "../state/title.ts";
import { printable } from "../text/printable.ts";
import { shortRun } from "../text/words.ts";
import { Lazy } from "./lazy.tsx";

const views = [
  { name: "conversation", word: "Conversation" },
  { name: "trace", word: "Trace" },
  { name: "events", word: "Events" },
  { name: "wire", word: "Wire" },
  { name: "request", word: "Request" },
] as const;

/** One run: its conversation, time, events and bytes. */
export function RunPage({ id }: { id: string }): JSX.Element {
  const live = useMemo(() => liveRun(id), [id]);
  useEffect(() => live.hold(), [live]);
  const at = query.value.get("at");
  useEffect(() => {
    const seq = Number(at);
    live.seek(at !== null && Number.isSafeInteger(seq) && seq > 0 ? seq : undefined);
  }, [at, live]);
  const forking = useSignal<number | undefined>(undefined);
  live.tick.value;
  const { view, whole } = live;
  const shown = query.value.get("view") ?? "conversation";
  const selected = query.value.get("select") ?? undefined;
  const select = (name: string) => setQuery({ select: name === selected ? undefined : name });
  const fork = mayHere("start") ? (after: number) => (forking.value = after) : undefined;
  useLayoutEffect(() => bindPage(actionsOf(live, fork)), [live]);
  // Opened from the list's edit button: start editing once the run is loaded.
  const wanted = query.value.get("edit") !== null && whole.endedAt !== undefined && fork !== undefined;
  useEffect(() => {
    if (!wanted) return;
    forking.value = 1;
    setQuery({ edit: undefined });
  }, [wanted]);
  const row = useRow(live);
  useTitle(`${whole.agent || "Run"} ${shortRun(id)}`);
  const cost = row.data?.digest?.cost;
  useOwner(row.data?.tenant);
  const error = live.error.value;
  if (error !== undefined && whole.head === 0) {
    return (
      <Empty title={error.code === "not_found" ? "There is no such run" : "This run cannot be shown"}>
        <p class="muted">{printable(error.message)}</p>
        <a href={to("runs")}>All runs</a>
      </Empty>
    );
  }
  if (whole.head === 0 && row.data?.status !== "ready") {
    return (
      <div class="page run-page">
        <Header title={<RunTitle live={live} />} />
        <p class="hidden-text" role="status">
          Loading the run …
        </p>
        <Skeleton rows={6} />
      </div>
    );
  }
  return (
    <div class="page run-page">
      <Header title={<RunTitle live={live} />} actions={<RunActions live={live} fork={fork} />}>
        <RunFacts view={view} frozen={live.at.value !== undefined} cost={cost} />
      </Header>
      <Connection live={live} />
      <WhyLine run={id} ended={whole.endedAt !== undefined} row={row.data} />
      {whole.endedAt === undefined ? null : <Rating run={id} />}
      <RunRibbon live={live} />
      {tabs({ label: "Views of the run", tabs: views, shown, choose: (name) => setQuery({ view: name }) })}
      <div class="run-body">
        <div class="run-main" role="tabpanel" id={`panel-${shown}`} aria-labelledby={`tab-${shown}`}>
          <View name={shown} live={live} selected={selected} select={select} edit={fork} />
        </div>
        {selected === undefined ? null : (
          <Inspector live={live} selected={selected} close={() => setQuery({ select: undefined })} fork={fork} />
        )}
      </div>
      <Scrubber live={live} />
      {forking.value === undefined ? null : (
        <Lazy
          key={forking.value}
          load={() =>
            import("./more.tsx").then(({ ForkDialog }) => () => (
              <ForkDialog live={live} after={forking.value ?? 1} close={() => (forking.value = undefined)} />
            ))
          }
        />
      )}
    </div>
  );
}

/** The run's row: its owner, whether it is queued or loading before its first event, and its cost at the end. */
function useRow({ id, whole }: LiveRun): Resource<RunRow> {
  const phase = whole.head === 0 ? "new" : whole.endedAt === undefined ? "running" : "ended";
  return useResource(
    (signal) => client.value.request<RunRow>({ op: "run.get", path: `/v1/runs/${encodeURIComponent(id)}`, signal }),
    [id, phase],
  );
}

interface ViewProps {
  readonly name: string;
  readonly live: LiveRun;
  readonly selected: string | undefined;
  readonly select: (id: string) => void;
  readonly edit: ((after: number) => void) | undefined;
}

function View({ name, live, selected, select, edit }: ViewProps): JSX.Element {
  if (name === "trace") return <TraceView live={live} selected={selected} select={select} />;
  if (name === "events") return <EventTable live={live} selected={selected} select={select} />;
  if (name === "wire") {
    return (
      <Lazy
        key="wire"
        load={() =>
          import("./more.tsx").then(({ WireView }) => () => <WireView live={live} />)
        }
      />
    );
  }
  if (name === "request") {
    return (
      <Lazy
        key="request"
        load={() =>
          import("./more.tsx").then(({ RequestView }) => () => <RequestView live={live} />)
        }
      />
    );
  }
  return (
    <StickyScroll live={live}>
      <Conversation live={live} selected={selected} select={select} edit={edit} />
    </StickyScroll>
  );
}

function RunTitle({ live }: { live: LiveRun }): JSX.Element {
  const { whole, id } = live;
  return (
    <span class="run-title">
      <a class="crumb" href={to("runs")}>
        Runs
      </a>
      <span class="faint">/</span>
      <bdi>{printable(whole.agent || "…")}</bdi>
      <span class="mono faint" title={id}>
        {shortRun(id)}
      </span>
      <CopyButton text={id} label="Copy the run's id" />
    </span>
  );
}

function RunActions({ live, fork }: { live: LiveRun; fork: ((after: number) => void) | undefined }): JSX.Element {
  const { whole } = live;
  const { trace } = whole.started ?? {};
  const ended = whole.endedAt !== undefined;
  return (
    <>
      {trace === undefined ? null : <TraceLink trace={trace} short />}
      {whole.session === undefined ? null : (
        <a class="button" href={to("chat", whole.agent, whole.session)}>
          <Icon name="chat" size={14} /> <span class="wide-only">Session</span>
        </a>
      )}
      {ended && mayHere("steer") ? (
        <button
          type="button"
          class="quiet"
          title="Erase"
          aria-label="Erase this run"
          onClick={() => askToErase(live.id)}
        >
          <Icon name="trash" size={14} />
        </button>
      ) : null}
      {ended || !mayHere("steer") ? null : <PauseButton live={live} />}
      {ended || !mayHere("steer") ? null : (
        <button type="button" class="danger" onClick={() => void stop(live)}>
          <Icon name="stop" size={14} /> Stop
        </button>
      )}
      <button type="button" onClick={() => go(`${to("compare")}?a=${encodeURIComponent(live.id)}`)}>
        <Icon name="compare" size={14} /> <span class="wide-only">Compare</span>
      </button>
      {fork === undefined ? null : (
        <button type="button" class="primary" disabled={whole.head === 0} onClick={() => fork(live.at.value ?? 1)}>
          <Icon name="fork" size={14} /> Fork
        </button>
      )}
    </>
  );
}

function RunRibbon({ live }: { live: LiveRun }): JSX.Element | null {
  live.tick.value;
  const { view } = live;
  if (view.head === 0) return <div class="ribbon-figure" aria-busy="true" />;
  const end = endOf(view, live.at.value !== undefined);
  return <Ribbon view={view} scale={scaleFor(view, end)} end={end} />;
}

function TraceView({
  live,
  selected,
  select,
}: {
  live: LiveRun;
  selected: string | undefined;
  select: (id: string) => void;
}): JSX.Element {
  live.tick.value;
  const { view } = live;
  const end = endOf(view, live.at.value !== undefined);
  const spans = query.value.get("spans") === "1";
  const called = useCalled(view);
  const scale = scaleFor(view, end);
  return (
    <div class="trace-view">
      {may("inspect") ? (
        <fieldset class="segmented" aria-label="Detail">
          <button type="button" aria-pressed={!spans} onClick={() => setQuery({ spans: undefined })}>
            Steps
          </button>
          <button type="button" aria-pressed={spans} onClick={() => setQuery({ spans: "1" })}>
            Exact spans
          </button>
        </fieldset>
      ) : null}
      {spans ? (
        <Lazy
          key="spans"
          load={() =>
            import("./more.tsx").then(({ SpansView }) => () => <SpansView live={live} />)
          }
        />
      ) : (
        <Waterfall view={view} called={called} scale={scale} end={end} selected={selected} select={select} />
      )}
    </div>
  );
}

/** Called runs shown below their calls. */
const mostCalled = 12;
const deepest = 3;

/** The runs called by this one's tools, recursively, as far as they are shown. */
function useCalled(view: RunView): ReadonlyMap<string, RunView> {
  const called = new Map<string, RunView>();
  const find = (of: RunView, depth: number) => {
    for (const { child } of of.calls.values()) {
      if (child === undefined || called.has(child) || called.size >= mostCalled) continue;
      const live = liveRun(child);
      live.tick.value;
      called.set(child, live.view);
      if (depth < deepest) find(live.view, depth + 1);
    }
  };
  find(view, 1);
  const names = [...called.keys()].join(" ");
  useEffect(() => {
    const releases = names === "" ? [] : names.split(" ").map((name) => liveRun(name).hold());
    return () => {
      for (const release of releases) release();
    };
  }, [names]);
  return called;
}

function actionsOf(live: LiveRun, fork: ((after: number) => void) | undefined) {
  const nextMishap = () => {
    const now = live.at.value ?? 0;
    const next = live.whole.mishaps.find((seq) => seq > now) ?? live.whole.mishaps[0];
    if (next !== undefined) setQuery({ view: "events", select: `event ${next}`, at: String(next) });
  };
  const step = (by: number) => {
    const seq = Math.min(live.whole.head, Math.max(1, (live.at.value ?? live.whole.head) + by));
    setQuery({ at: seq >= live.whole.head ? undefined : String(seq) });
  };
  return [
    ...views.map(({ name, word }, index) => ({
      word,
      hint: String(index + 1),
      key: String(index + 1),
      run: () => setQuery({ view: name }),
    })),
    { word: "Next error", hint: "e", key: "e", run: nextMishap },
    { word: "One event back", hint: "[", key: "[", run: () => step(-1) },
    { word: "One event on", hint: "]", key: "]", run: () => step(1) },
    {
      word: "Stop this run",
      hint: "x",
      key: "x",
      run: () => askToStop(live),
    },
    ...(fork === undefined
      ? []
      : [{ word: "Fork this run", hint: "f", key: "f", run: () => fork(live.at.value ?? 1) }]),
    {
      word: "Compare this run",
      hint: "c",
      key: "c",
      run: () => go(`${to("compare")}?a=${encodeURIComponent(live.id)}`),
    },
    { word: "Close details", hint: "Esc", key: "Escape", run: () => setQuery({ select: undefined }) },
  ];
}
