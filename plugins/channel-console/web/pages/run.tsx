import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { Connection } from "../components/connection.tsx";
import { Conversation } from "../components/conversation.tsx";
import { CopyButton } from "../components/copy.tsx";
import { EventTable } from "../components/events.tsx";
import { Empty, Header } from "../components/header.tsx";
import { Inspector } from "../components/inspector.tsx";
import { bindPage } from "../components/palette.tsx";
import { Rating } from "../components/rating.tsx";
import { endOf, Ribbon, scaleFor } from "../components/ribbon.tsx";
import { RunFacts } from "../components/run-facts.tsx";
import { Scrubber } from "../components/scrubber.tsx";
import { Skeleton } from "../components/skeleton.tsx";
import { StickyScroll } from "../components/sticky-scroll.tsx";
import { tabs } from "../components/tabs.tsx";
import { WhyLine } from "../components/why.tsx";
import type { RunRow } from "../state/api-types.ts";
import { useOwner } from "../state/foreign.ts";
import { type LiveRun, liveRun } from "../state/live.ts";
import { type Resource, useResource } from "../state/resource.ts";
import { query, setQuery, to } from "../state/router.ts";
import { client, mayHere } from "../state/session.ts";
import { useTitle } from "../state/title.ts";
import { printable } from "../text/printable.ts";
import { shortRun } from "../text/words.ts";
import { Lazy } from "./lazy.tsx";
import { actionsOf, RunActions, views } from "./run-actions.tsx";
import { TraceView } from "./trace.tsx";

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
  const adding = useSignal(false);
  useLayoutEffect(() => bindPage(actionsOf(live, fork, adding)), [live, whole.endedAt === undefined]);
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
      <Header title={<RunTitle live={live} />} actions={<RunActions live={live} fork={fork} adding={adding} />}>
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

function RunRibbon({ live }: { live: LiveRun }): JSX.Element | null {
  live.tick.value;
  const { view } = live;
  if (view.head === 0) return <div class="ribbon-figure" aria-busy="true" />;
  const end = endOf(view, live.at.value !== undefined);
  return <Ribbon view={view} scale={scaleFor(view, end)} end={end} />;
}
