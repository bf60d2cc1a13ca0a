import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { DatasetDialog } from "../components/dataset.tsx";
import { askToErase } from "../components/erase.ts";
import { Icon } from "../components/icon.tsx";
import { PauseButton } from "../components/pause-button.tsx";
import { askToStop, stop } from "../components/stop.ts";
import { TraceLink } from "../components/trace-link.tsx";
import type { LiveRun } from "../state/live.ts";
import { go, setQuery, to } from "../state/router.ts";
import { mayHere } from "../state/session.ts";

export const views = [
  { name: "conversation", word: "Conversation" },
  { name: "trace", word: "Trace" },
  { name: "events", word: "Events" },
  { name: "wire", word: "Wire" },
  { name: "request", word: "Request" },
] as const;

/** Buttons of a run's page. */
export function RunActions({
  live,
  fork,
  adding,
}: {
  live: LiveRun;
  fork: ((after: number) => void) | undefined;
  adding: Signal<boolean>;
}): JSX.Element {
  const { whole } = live;
  const { trace } = whole.started ?? {};
  const ended = whole.endedAt !== undefined;
  return (
    <>
      {trace === undefined ? null : <TraceLink trace={trace} short />}
      {whole.session === undefined ? null : (
        <a class="button" title="Session" href={to("chat", whole.agent, whole.session)}>
          <Icon name="chat" size={14} /> <span class="wide-only">Session</span>
        </a>
      )}
      {mayAdd(live) ? (
        <button
          type="button"
          class="in-palette"
          title="Add to dataset"
          data-act="dataset"
          onClick={() => (adding.value = true)}
        >
          <Icon name="plus" size={14} /> <span class="wide-only">Add to dataset</span>
        </button>
      ) : null}
      {adding.value ? <DatasetDialog run={live.id} close={() => (adding.value = false)} /> : null}
      {mayErase(live) ? (
        <button
          type="button"
          class="quiet in-palette"
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
      <button
        type="button"
        class="in-palette"
        title="Compare"
        onClick={() => go(`${to("compare")}?a=${encodeURIComponent(live.id)}`)}
      >
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

const mayErase = ({ whole }: LiveRun): boolean => whole.endedAt !== undefined && mayHere("steer");
const mayAdd = (live: LiveRun): boolean => mayErase(live) && mayHere("inspect");

/** Actions of a run's page, for shortcuts and the palette, which has those too that a phone's header has no room for. */
export function actionsOf(live: LiveRun, fork: ((after: number) => void) | undefined, adding: Signal<boolean>) {
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
    ...(mayAdd(live) ? [{ word: "Add to dataset", hint: "", key: "", run: () => (adding.value = true) }] : []),
    ...(mayErase(live) ? [{ word: "Erase this run", hint: "", key: "", run: () => askToErase(live.id) }] : []),
    { word: "Close details", hint: "Esc", key: "Escape", run: () => setQuery({ select: undefined }) },
  ];
}
