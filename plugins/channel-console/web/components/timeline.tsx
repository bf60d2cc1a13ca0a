import type { JSX } from "preact";
import { fastClock } from "../state/clock.ts";
import type { LiveRun } from "../state/live.ts";
import { endOf, Ribbon, scaleFor } from "./ribbon.tsx";
import { Waterfall } from "./waterfall.tsx";

/** Ribbon and waterfall on one time scale; both grow while the run is active. */
export function Timeline({
  live,
  selected,
  select,
}: {
  live: LiveRun;
  selected: string | undefined;
  select: (id: string) => void;
}): JSX.Element | null {
  // Ten updates a second while the run is active; more would not be noticed.
  const isLive = live.whole.endedAt === undefined && live.at.value === undefined;
  if (isLive) fastClock.value;
  if (!isLive || live.whole.head === 0) live.tick.value;
  const { view } = live;
  if (view.head === 0) return null;
  const end = endOf(view, live.at.value !== undefined);
  const scale = scaleFor(view, end);
  return (
    <div class="timeline">
      <Ribbon view={view} scale={scale} end={end} />
      <Waterfall view={view} scale={scale} end={end} selected={selected} select={select} />
    </div>
  );
}
