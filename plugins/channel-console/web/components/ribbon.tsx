import type { JSX } from "preact";
import { type TimePart, type TimeSegment, timeParts, timingKey } from "venturi/client/times";
import { type Scale, scaleOf } from "../fold/scale.ts";
import type { RunView } from "../fold/view.ts";
import { fastClock } from "../state/clock.ts";
import { lit } from "../state/lit.ts";
import { duration } from "../text/words.ts";

export const partWords: Readonly<Record<TimePart, string>> = {
  queue: "In the queue",
  providerWait: "Waiting for the model",
  providerStream: "Streaming",
  providerStall: "Model stalled",
  failedAttempt: "Failed attempts",
  backoff: "Backing off",
  tool: "Tools",
  approval: "Waiting for approval",
  hook: "Hooks",
  client: "Waiting for the reader",
  journal: "Waiting for the journal",
  blocked: "Process blocked",
  gc: "Garbage collection",
  down: "Worker gone",
  paused: "Paused",
  runtime: "Venturi",
};

/** The current time for an active run, the end time for an ended one. */
export const endOf = (view: RunView, frozen: boolean): number =>
  view.endedAt ?? (frozen ? view.at : Math.max(view.at, fastClock.value));

/** All segments up to `until`; the last one grows. */
export function segmentsOf(view: RunView, until: number): readonly TimeSegment[] {
  const { segments, now } = view.times;
  const from = segments.at(-1)?.to ?? view.startedAt;
  return until > from && view.endedAt === undefined ? [...segments, { ...now, from, to: until }] : segments;
}

/** Each millisecond of the run in the colour of its activity. */
export function Ribbon({ view, scale, end }: { view: RunView; scale: Scale; end: number }): JSX.Element {
  const segments = segmentsOf(view, end);
  const chosen = lit.value;
  const totals = view.times.totals(end);
  const total = Math.max(1, end - view.startedAt);
  const spoken = timeParts
    .filter((part) => totals[part] > 0)
    .map((part) => `${partWords[part]} ${duration(totals[part])}`)
    .join(", ");
  return (
    <figure class="ribbon-figure">
      <div class="ribbon" role="img" aria-label={`Where the time went: ${spoken}`}>
        {segments.map(({ part, name = "", from, to }) => {
          const left = scale.x(from);
          const isLit = chosen !== undefined && part === chosen.part && (chosen.name === "" || name === chosen.name);
          return (
            <i
              class={`seg p-${part}${chosen === undefined ? "" : isLit ? " lit" : " dim"}`}
              title={`${partWords[part]}: ${duration(to - from)}`}
              style={{ left: percent(left), width: percent(scale.x(to) - left) }}
            />
          );
        })}
        {scale.folds.map(({ from, to }) => (
          <b
            class="fold"
            style={{ left: percent((scale.x(from) + scale.x(to)) / 2) }}
            title={`${duration(to - from)}, shortened`}
          >
            {"//"}
          </b>
        ))}
      </div>
      <figcaption class="legend">
        {timeParts
          .filter((part) => totals[part] >= 0.5)
          .map((part) => (
            <span key={part}>
              <i class={`swatch p-${part}`} />
              {partWords[part]} <b>{duration(totals[part])}</b>
              <span class="faint"> {Math.round((totals[part] / total) * 100)}%</span>
            </span>
          ))}
      </figcaption>
    </figure>
  );
}

export const scaleFor = (view: RunView, end: number): Scale => scaleOf(segmentsOf(view, end), view.startedAt, end);

export const percent = (share: number): string => `${(share * 100).toFixed(3)}%`;

/** Shares of a run's time, for a list row. */
export function MiniRibbon({ timing }: { timing: Readonly<Partial<Record<string, number>>> }): JSX.Element {
  const shares = timeParts.map((part) => ({ part, ms: timing[timingKey(part)] ?? 0 }));
  const total = shares.reduce((sum, { ms }) => sum + ms, 0);
  const words = shares.filter(({ ms }) => ms >= 0.5).map(({ part, ms }) => `${partWords[part]} ${duration(ms)}`);
  return (
    <span class="mini-ribbon" role="img" aria-label={words.join(", ")} title={words.join(", ")}>
      {total === 0
        ? null
        : shares.map(({ part, ms }) =>
            ms === 0 ? null : <i key={part} class={`p-${part}`} style={{ width: percent(ms / total) }} />,
          )}
    </span>
  );
}
