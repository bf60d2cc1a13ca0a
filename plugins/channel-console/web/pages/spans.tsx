import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Facts } from "../components/facts.tsx";
import { Empty } from "../components/header.tsx";
import { Icon } from "../components/icon.tsx";
import { percent } from "../components/ribbon.tsx";
import { Rows } from "../components/rows.tsx";
import { Axis, besideBar, rowHeight } from "../components/waterfall.tsx";
import { scaleOf } from "../fold/scale.ts";
import { type Span, spansOf } from "../fold/spans.ts";
import type { LiveRun } from "../state/live.ts";
import { useResource } from "../state/resource.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { duration, short } from "../text/words.ts";

/** All spans of the run with microsecond times, including chunks, accumulation, commits and deliveries. */
export function SpansView({ live }: { live: LiveRun }): JSX.Element {
  const { data, error, loading } = useResource(
    (signal) =>
      client.value.request<unknown>({ op: "run.trace", path: `/v1/runs/${encodeURIComponent(live.id)}/trace`, signal }),
    [live.id, live.whole.endedAt],
  );
  const spans = useMemo(() => (data === undefined ? [] : spansOf(data)), [data]);
  const chosen = useSignal(-1);
  if (spans.length === 0) {
    if (loading) return <div aria-busy="true" />;
    return (
      <Empty title="The spans of this run are not in memory">
        <p class="muted">
          The service keeps those of the latest runs, once they have ended. The steps are made from the run's events,
          which are kept for good.
        </p>
        {error === undefined ? null : <p class="faint">{printable(error.message)}</p>}
      </Empty>
    );
  }
  const from = Math.min(...spans.slice(0, 50).map((span) => span.from));
  // A reader may be served long after the run's end; the scale covers the run only.
  const to = Math.max(from + 1, ...spans.filter(({ depth }) => depth === 0).map((span) => span.to));
  const scale = scaleOf([], from, to);
  const span = spans[chosen.value];
  const { startedAt, endedAt = startedAt } = live.whole;
  const beyond = (spans[0]?.to ?? 0) - (spans[0]?.from ?? 0) - (endedAt - startedAt);
  return (
    <div class="spans">
      <div class="waterfall">
        <Axis scale={scale} />
        <Rows
          label="Spans"
          count={spans.length}
          height={rowHeight}
          selected={chosen.value}
          choose={(index) => (chosen.value = index === chosen.value ? -1 : index)}
          row={(index) => {
            const each = spans[index];
            return each === undefined ? null : <SpanRow span={each} x={scale.x} />;
          }}
        />
      </div>
      {beyond < 1 || span !== undefined ? null : (
        <p class="span-note faint">
          The first span is {duration(beyond)} longer than the run: it begins when a worker claims the run and ends when
          the last event is stored; a run lasts from its first to its last event.
        </p>
      )}
      {span === undefined ? null : (
        <section class="span-facts" aria-label="Attributes of the span">
          <h3>{printable(span.name)}</h3>
          <Facts
            facts={[
              ["took", precise(span.to - span.from)],
              ["began after", precise(span.from - from)],
              ...span.attributes.map(([name, value]) => [name, short(value, 400)] as const),
            ]}
          />
        </section>
      )}
    </div>
  );
}

function SpanRow({ span, x }: { span: Span; x: (at: number) => number }): JSX.Element {
  const left = Math.min(1, x(span.from));
  const right = Math.min(1, x(span.to));
  return (
    <div class={`wf-row depth-${Math.min(11, span.depth)} ${span.failed ? "error" : "plain"}`}>
      <span class="wf-label">
        {span.failed ? <Icon name="warning" size={12} /> : null}
        <bdi>{printable(span.name)}</bdi>
      </span>
      <span class="track">
        <i class="bar b-span" style={{ left: percent(left), width: percent(Math.max(0, right - left)) }} />
        <span {...besideBar(left, right)}>{precise(span.to - span.from)}</span>
      </span>
    </div>
  );
}

const precise = (ms: number): string => (ms < 10 ? `${ms.toFixed(3)} ms` : duration(ms));
