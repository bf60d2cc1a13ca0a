import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { endOf, scaleFor } from "../components/ribbon.tsx";
import { Waterfall } from "../components/waterfall.tsx";
import type { RunView } from "../fold/view.ts";
import { type LiveRun, liveRun } from "../state/live.ts";
import { query, setQuery } from "../state/router.ts";
import { may } from "../state/session.ts";
import { Lazy } from "./lazy.tsx";

/** The run's steps, or its exact spans, over time. */
export function TraceView({
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
