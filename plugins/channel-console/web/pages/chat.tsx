import { signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { fieldOf } from "../components/arguments-form.tsx";
import { Composer } from "../components/composer.tsx";
import { Connection } from "../components/connection.tsx";
import { Conversation } from "../components/conversation.tsx";
import { Empty, Header } from "../components/header.tsx";
import { Icon } from "../components/icon.tsx";
import { InspectorLater } from "../components/inspector-later.tsx";
import { bindPage } from "../components/palette.tsx";
import { RunFacts } from "../components/run-facts.tsx";
import { StickyScroll } from "../components/sticky-scroll.tsx";
import { askToStop, stop } from "../components/stop.ts";
import { Timeline } from "../components/timeline.tsx";
import { Welcome } from "../components/welcome.tsx";
import { type LiveRun, liveRun } from "../state/live.ts";
import { go, path, query, setQuery, to } from "../state/router.ts";
import { agents, client, may } from "../state/session.ts";
import { useTitle } from "../state/title.ts";
import { printable } from "../text/printable.ts";
import { shortRun } from "../text/words.ts";
import { Lazy } from "./lazy.tsx";

/** Whether the current run's timeline is shown below the conversation; a phone has no room for both. */
const timelineOpen = signal(matchMedia("(min-width: 721px)").matches);

/** A conversation with an agent: `/chat/AGENT/SESSION`. */
export function ChatPage(): JSX.Element {
  const [, asked, session] = path.value;
  const agent = agents.value.find(({ name }) => name === asked) ?? (asked === undefined ? agents.value[0] : undefined);
  if (agent === undefined) {
    return asked === undefined ? (
      <Empty title="There are no agents yet">
        <p class="muted">
          Add one under <code>agents:</code> in the configuration; it appears here when the service has read it.
        </p>
      </Empty>
    ) : (
      <Empty title={`There is no agent “${printable(asked)}”`}>
        <a href={to("chat")}>Choose another</a>
      </Empty>
    );
  }
  return <Chat key={`${agent.name} ${session ?? ""}`} agent={agent.name} session={session} />;
}

/** Runs of conversations started on this page, so that navigating to their address does not load them again. */
const started = new Map<string, readonly string[]>();

function Chat({ agent, session }: { agent: string; session: string | undefined }): JSX.Element {
  const runs = useSignal<readonly string[]>((session === undefined ? undefined : started.get(session)) ?? []);
  const older = useSignal(0);
  const problem = useSignal("");
  useEffect(() => {
    if (session === undefined || started.has(session)) return;
    const abort = new AbortController();
    readSession(session, abort.signal).then(
      (found) => {
        older.value = found.older;
        runs.value = found.runs;
      },
      (thrown) => {
        if (!abort.signal.aborted) problem.value = String(thrown instanceof Error ? thrown.message : thrown);
      },
    );
    return () => abort.abort();
  }, [session]);
  const lives = useMemo(() => runs.value.map((run) => liveRun(run)), [runs.value]);
  useEffect(() => {
    const releases = lives.map((live) => live.hold());
    return () => {
      for (const release of releases) release();
    };
  }, [lives]);
  const current = lives.at(-1);
  current?.tick.value;
  const isRunning = current !== undefined && current.whole.endedAt === undefined;
  const forking = useSignal<{ live: LiveRun; after: number } | undefined>(undefined);
  useTitle(`Chat with ${agent}`);
  useLayoutEffect(
    () =>
      bindPage([
        {
          word: "Stop the run",
          hint: "x",
          key: "x",
          run: () => askToStop(current),
        },
        { word: "Write a message", hint: "/", key: "/", run: () => document.getElementById("composer")?.focus() },
        { word: "Close details", hint: "Esc", key: "Escape", run: () => setQuery({ select: undefined }) },
      ]),
    [current, isRunning],
  );

  const send = async (text: string, variables: Readonly<Record<string, unknown>> | undefined) => {
    problem.value = "";
    try {
      if (isRunning) return await client.value.run(current.id).steer(text);
      const conversation = session ?? `console-${crypto.randomUUID().slice(0, 8)}`;
      const input = variables === undefined ? text : { text, variables };
      const run = await client.value.start({ agent, input, session: conversation });
      runs.value = [...runs.value, run.id];
      started.set(conversation, runs.value);
      if (session === undefined) go(to("chat", agent, conversation), "replace");
    } catch (thrown) {
      // Problems of an input are shown next to it.
      if (fieldOf(thrown) === undefined) problem.value = thrown instanceof Error ? thrown.message : String(thrown);
      throw thrown;
    }
  };
  const [chosenRun, selected] = split(query.value.get("select"));
  const selectIn = (run: string) => (id: string) => {
    const name = `${run} ${id}`;
    setQuery({ select: query.value.get("select") === name ? undefined : name });
  };
  const inspected = lives.find(({ id }) => id === chosenRun);
  return (
    <div class="page chat-page">
      <Header
        title={<AgentChoice agent={agent} />}
        actions={
          <>
            {isRunning && may("steer") ? (
              <button type="button" class="danger" onClick={() => void stop(current)}>
                <Icon name="stop" size={14} /> Stop
              </button>
            ) : null}
            {current === undefined ? null : (
              <a class="button" href={to("runs", current.id)}>
                <Icon name="panel" size={14} /> <span class="wide-only">Open run</span>
              </a>
            )}
            <a class="button" href={to("chat", agent)}>
              <Icon name="plus" size={14} /> <span class="wide-only">New</span>
            </a>
          </>
        }
      >
        {current === undefined ? null : <RunFacts view={current.view} frozen={false} />}
      </Header>
      {current === undefined ? null : <Connection live={current} />}
      <div class="run-body">
        <div class="run-main">
          <StickyScroll live={current}>
            {older.value === 0 || session === undefined ? null : (
              <p class="center-line">
                <a href={`${to("sessions")}?session=${encodeURIComponent(session)}`}>{older.value} earlier runs</a>
              </p>
            )}
            {lives.length === 0 && session === undefined ? <Welcome agent={agent} send={send} /> : null}
            {lives.map((live) => (
              <section key={live.id} class="turn" aria-label={`Run ${shortRun(live.id)}`}>
                <Conversation
                  live={live}
                  selected={chosenRun === live.id ? selected : undefined}
                  select={selectIn(live.id)}
                  edit={may("start") ? (after) => (forking.value = { live, after }) : undefined}
                />
              </section>
            ))}
          </StickyScroll>
          {problem.value === "" ? null : (
            <p class="problem bar" role="alert">
              <Icon name="warning" size={14} /> {printable(problem.value)}
            </p>
          )}
          {may("start") ? <Composer agent={agent} running={isRunning} send={send} /> : null}
        </div>
        {inspected === undefined || selected === undefined ? null : (
          <InspectorLater live={inspected} selected={selected} close={() => setQuery({ select: undefined })} />
        )}
      </div>
      {forking.value === undefined ? null : (
        <Lazy
          key={forking.value.live.id}
          load={() =>
            import("./more.tsx").then(({ ForkDialog }) => () => (
              <ForkDialog
                live={forking.value?.live ?? lives[0] ?? liveRun("")}
                after={forking.value?.after ?? 1}
                close={() => (forking.value = undefined)}
              />
            ))
          }
        />
      )}
      {current === undefined ? null : (
        <BottomTimeline
          live={current}
          selected={chosenRun === current.id ? selected : undefined}
          select={selectIn(current.id)}
        />
      )}
    </div>
  );
}

/** `RUN call ID` → the run and what is selected in it. */
function split(select: string | null): [string | undefined, string | undefined] {
  const at = select?.indexOf(" ") ?? -1;
  return select === null || at < 0 ? [undefined, undefined] : [select.slice(0, at), select.slice(at + 1)];
}

const shownRuns = 8;

async function readSession(session: string, signal: AbortSignal): Promise<{ runs: string[]; older: number }> {
  const all: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.value.session(session, {
      limit: 200,
      signal,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { run } of page.runs) all.push(run);
    cursor = page.cursor;
  } while (cursor !== undefined && all.length < 2000);
  return { runs: all.slice(-shownRuns), older: Math.max(0, all.length - shownRuns) };
}

function AgentChoice({ agent }: { agent: string }): JSX.Element {
  return (
    <select
      class="agent-choice"
      aria-label="Agent"
      value={agent}
      onChange={(event) => go(to("chat", event.currentTarget.value))}
    >
      {agents.value.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

function BottomTimeline({
  live,
  selected,
  select,
}: {
  live: LiveRun;
  selected: string | undefined;
  select: (id: string) => void;
}): JSX.Element {
  const toggle = () => {
    timelineOpen.value = !timelineOpen.value;
  };
  return (
    <section class={timelineOpen.value ? "bottom open" : "bottom"} aria-label="Where the time goes">
      <button type="button" class="bottom-head" aria-expanded={timelineOpen.value} onClick={toggle}>
        <Icon name={timelineOpen.value ? "down" : "chevron"} size={14} /> Timeline
      </button>
      {timelineOpen.value ? <Timeline live={live} selected={selected} select={select} /> : null}
    </section>
  );
}
