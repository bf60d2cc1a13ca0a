import type { JSX } from "preact";
import { type Part, parts, type Segment } from "../fold/ribbon.ts";
import { type Scale, scaleOf } from "../fold/scale.ts";
import type { RunView } from "../fold/view.ts";
import { fastClock } from "../state/clock.ts";
import { duration } from "../text/words.ts";

export const partWords: Readonly<Record<Part, string>> = {
  wait: "Waiting for the model",
  stream: "Streaming",
  backoff: "Backing off",
  tool: "Tools",
  approval: "Waiting for approval",
  runtime: "Venturi",
};

/** Where time is now, for a run under way; its end for one that ended. */
export const endOf = (view: RunView, frozen: boolean): number =>
  view.endedAt ?? (frozen ? view.at : Math.max(view.at, fastClock.value));

/** All segments up to now, the last one growing. */
export function segmentsOf(view: RunView, until: number): readonly Segment[] {
  const { segments, part } = view.ribbon;
  const from = segments.at(-1)?.to ?? view.startedAt;
  return until > from && view.endedAt === undefined ? [...segments, { part, from, to: until }] : segments;
}

/** Each millisecond of the run in the colour of what it was spent on. */
export function Ribbon({ view, scale, end }: { view: RunView; scale: Scale; end: number }): JSX.Element {
  const segments = segmentsOf(view, end);
  const totals = view.ribbon.totals(end);
  const total = Math.max(1, end - view.startedAt);
  const spoken = parts
    .filter((part) => totals[part] > 0)
    .map((part) => `${partWords[part]} ${duration(totals[part])}`)
    .join(", ");
  return (
    <figure class="ribbon-figure">
      <div class="ribbon" role="img" aria-label={`Where the time went: ${spoken}`}>
        {segments.map(({ part, from, to }) => {
          const left = scale.x(from);
          return (
            <i
              class={`seg p-${part}`}
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
        {parts
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

const timingParts = {
  providerWait: "wait",
  providerStream: "stream",
  retryWait: "backoff",
  tool: "tool",
  approval: "approval",
  client: "client",
  stalled: "stalled",
  runtime: "runtime",
} as const;

/** The parts of a run's time as shares, for a row of a list. */
export function MiniRibbon({ timing }: { timing: Readonly<Partial<Record<string, number>>> }): JSX.Element {
  const shares = Object.entries(timingParts).map(([name, part]) => ({ name, part, ms: timing[name] ?? 0 }));
  const total = shares.reduce((sum, { ms }) => sum + ms, 0);
  const words = shares.filter(({ ms }) => ms >= 0.5).map(({ part, ms }) => `${part} ${duration(ms)}`);
  return (
    <span class="mini-ribbon" role="img" aria-label={words.join(", ")} title={words.join(", ")}>
      {total === 0
        ? null
        : shares.map(({ name, part, ms }) =>
            ms === 0 ? null : <i key={name} class={`p-${part}`} style={{ width: percent(ms / total) }} />,
          )}
    </span>
  );
}
