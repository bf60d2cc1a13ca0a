import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Scale } from "../fold/scale.ts";
import type { RunView } from "../fold/view.ts";
import { type Row, rowsOf } from "../fold/waterfall.ts";
import { go, to } from "../state/router.ts";
import { printable } from "../text/printable.ts";
import { duration } from "../text/words.ts";
import { Icon, type IconName } from "./icon.tsx";
import { percent } from "./ribbon.tsx";
import { Rows } from "./rows.tsx";

export interface WaterfallProps {
  readonly view: RunView;
  /** Runs called by its tools, by id. */
  readonly called?: ReadonlyMap<string, RunView>;
  readonly scale: Scale;
  readonly end: number;
  readonly selected: string | undefined;
  readonly select: (id: string) => void;
}

export const rowHeight = 28;

/** The run as a tree over time: rounds, generations and calls. */
export function Waterfall({ view, called, scale, end, selected, select }: WaterfallProps): JSX.Element {
  const rows = rowsOf(view, called);
  const choose = (row: Row | undefined) => {
    if (row?.run === undefined) return select(row?.id ?? "");
    const inner = row.id.slice(row.run.length + 1);
    go(`${to("runs", row.run)}?view=trace&select=${encodeURIComponent(inner)}`);
  };
  return (
    <div class="waterfall">
      <Axis scale={scale} />
      <Rows
        label="Waterfall"
        count={rows.length}
        height={rowHeight}
        selected={rows.findIndex(({ id }) => id === selected)}
        choose={(index) => choose(rows[index])}
        row={(index) => {
          const row = rows[index];
          return row === undefined ? null : <RowView row={row} scale={scale} end={end} />;
        }}
      />
    </div>
  );
}

export function Axis({ scale }: { scale: Scale }): JSX.Element {
  const step = stepOf((scale.to - scale.from) / 5);
  const marks: number[] = [];
  for (let at = 0; at <= scale.to - scale.from && marks.length < 12; at += step) marks.push(at);
  const shown = scale.folds.length > 0 ? [0] : marks;
  return (
    <div class="axis" aria-hidden="true">
      <span class="axis-label">Step</span>
      <div class="track">
        {shown.map((at) => (
          <span style={{ left: percent(scale.x(scale.from + at)) }}>{at === 0 ? "0" : axisTime(at)}</span>
        ))}
      </div>
    </div>
  );
}

const axisTime = (at: number): string => duration(at).replace(/\.?0+ s$/, " s");

/** 1, 2 or 5 times a power of ten. */
function stepOf(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? power * 10;
}

function iconOf({ call, attempt, depth, tone }: Row): IconName | undefined {
  if (tone === "error") return "warning";
  if (call !== undefined) return tone === "waiting" ? "hand" : "tool";
  return attempt === undefined || depth < 2 ? undefined : "chat";
}

function RowView({ row, scale, end }: { row: Row; scale: Scale; end: number }): JSX.Element {
  const icon = iconOf(row);
  const to = row.to ?? end;
  return (
    <div class={`wf-row depth-${Math.min(11, row.depth)} ${row.tone}`}>
      <span class="wf-label">
        {icon === undefined ? null : <Icon name={icon} size={12} />}
        <bdi>{printable(row.label)}</bdi>
        {row.call?.finished?.savedMs === undefined ? null : <em class="early">early</em>}
      </span>
      <span class="track">
        {row.bars.map(({ kind, from, to: until, beside }) => {
          const left = scale.x(from);
          const width = Math.max(0, scale.x(until ?? end) - left);
          const name = `bar b-${kind} p-${kind}${beside ? " beside" : ""}`;
          return <i class={name} style={{ left: percent(left), width: percent(width) }} />;
        })}
        {row.ticks === undefined || row.ticks.length < 2 ? null : <Ticks times={row.ticks} scale={scale} />}
        <span {...besideBar(scale.x(row.from), scale.x(to))}>
          {duration(to - row.from)}
          {row.detail === "" ? null : <span class="faint"> {printable(row.detail)}</span>}
        </span>
      </span>
    </div>
  );
}

/** Places a figure after or before the bar, whichever has more room, or on top if neither has. Never over the row's name. */
export function besideBar(left: number, right: number): { class: string; style: Readonly<Record<string, string>> } {
  const after = 1 - right;
  // A figure takes about 60 px.
  const least = innerWidth > 720 ? 0.14 : 0.34;
  if (Math.max(after, left) < least) return { class: "wf-time over", style: {} };
  if (after >= 0.25 || after >= left) {
    return { class: "wf-time", style: { left: percent(right), maxWidth: percent(after) } };
  }
  return { class: "wf-time before", style: { right: percent(1 - left), maxWidth: percent(left) } };
}

/** When tokens arrived: at most one mark per pixel, brighter for more. */
function Ticks({ times, scale }: { times: readonly number[]; scale: Scale }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const first = times[0] ?? 0;
  const last = times.at(-1) ?? first;
  const left = scale.x(first);
  const width = Math.max(0, scale.x(last) - left);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const pixels = Math.max(1, Math.min(2000, Math.round(element.clientWidth)));
    element.width = pixels;
    element.height = 1;
    const counts = new Uint16Array(pixels);
    let most = 1;
    for (const at of times) {
      const x = width === 0 ? 0 : Math.min(pixels - 1, Math.floor(((scale.x(at) - left) / width) * pixels));
      const now = (counts[x] ?? 0) + 1;
      counts[x] = now;
      most = Math.max(most, now);
    }
    const context = element.getContext("2d");
    if (context === null) return;
    context.clearRect(0, 0, pixels, 1);
    context.fillStyle = getComputedStyle(element).color;
    for (let x = 0; x < pixels; x += 1) {
      const hits = counts[x] ?? 0;
      if (hits === 0) continue;
      context.globalAlpha = 0.35 + 0.65 * (hits / most);
      context.fillRect(x, 0, 1, 1);
    }
  });
  return (
    <span class="ticks" style={{ left: percent(left), width: percent(width) }}>
      <canvas ref={canvas} />
    </span>
  );
}
