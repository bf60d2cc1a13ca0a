import type { ComponentChildren, JSX } from "preact";
import type { Attempt } from "../fold/view.ts";
import { attemptId } from "../fold/waterfall.ts";
import { isFromWire } from "../fold/wire-events.ts";
import type { RunEvent } from "../state/api-types.ts";
import type { LiveRun } from "../state/live.ts";
import { setQuery, to } from "../state/router.ts";
import { may } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { clockTime, duration, shortRun } from "../text/words.ts";
import { CallDetails, type Fork, ForkButton } from "./call-details.tsx";
import { CopyButton } from "./copy.tsx";
import { Facts, Id, Section } from "./facts.tsx";
import { Icon } from "./icon.tsx";
import { Json, stringify } from "./json.tsx";
import { TraceLink } from "./trace-link.tsx";

export interface InspectorProps {
  readonly live: LiveRun;
  /** `call ID`, `attempt R.A.SEQ`, `event SEQ`, `round N` or `run`. */
  readonly selected: string;
  readonly close: () => void;
  readonly fork?: Fork;
}

/** Shows whatever is selected, in full. */
export function Inspector({ live, selected, close, fork }: InspectorProps): JSX.Element {
  live.tick.value;
  return (
    <aside class="inspector" aria-label="Details">
      <div class="inspector-head">
        <h2>{printable(titleOf(live, selected))}</h2>
        <button type="button" class="quiet small" aria-label="Close details" title="Close (Esc)" onClick={close}>
          <Icon name="cross" size={14} />
        </button>
      </div>
      <div class="inspector-body">{bodyOf(live, selected, fork)}</div>
    </aside>
  );
}

const rest = (selected: string): string => selected.slice(selected.indexOf(" ") + 1);

function titleOf({ view, events }: LiveRun, selected: string): string {
  if (selected.startsWith("call ")) return view.calls.get(rest(selected))?.name ?? "Call";
  if (selected.startsWith("event ")) return events[Number(rest(selected)) - 1]?.type ?? "Event";
  if (selected.startsWith("attempt ")) return "Generation";
  return selected.startsWith("round ") ? `Round ${rest(selected)}` : "Run";
}

function bodyOf(live: LiveRun, selected: string, fork: Fork): ComponentChildren {
  const { view, events } = live;
  if (selected.startsWith("call ")) {
    const call = view.calls.get(rest(selected));
    return call === undefined ? <Missing /> : <CallDetails call={call} run={live.id} fork={fork} />;
  }
  if (selected.startsWith("event ")) {
    const event = events[Number(rest(selected)) - 1];
    return event === undefined ? <Missing /> : <EventDetails event={event} fork={fork} />;
  }
  if (selected.startsWith("attempt ")) {
    const attempt = view.rounds.flatMap(({ attempts }) => attempts).find((each) => attemptId(each) === selected);
    return attempt === undefined ? <Missing /> : <AttemptDetails attempt={attempt} />;
  }
  const { metadata, config, trace, parent, fork: origin } = view.started ?? {};
  return (
    <>
      <Facts
        facts={[
          ["run", <Id key="run" text={live.id} />],
          ["agent", view.agent],
          ["session", view.session],
          ["started", clockTime(view.startedAt)],
          ["took", view.endedAt === undefined ? undefined : duration(view.endedAt - view.startedAt)],
          ["finish", view.error?.code ?? view.finish],
          ["events", String(view.head)],
          ["config", config],
          ["trace", trace === undefined ? undefined : <TraceLink key="trace" trace={trace} />],
          ["called by", parent === undefined ? undefined : <a href={to("runs", parent.run)}>{shortRun(parent.run)}</a>],
          [
            "forked from",
            origin === undefined ? undefined : (
              <a href={`${to("runs", origin.run)}?at=${origin.after}`}>
                {shortRun(origin.run)} at {origin.after}
              </a>
            ),
          ],
        ]}
      />
      {metadata === undefined ? null : (
        <Section title="Metadata">
          <Json value={metadata} />
        </Section>
      )}
    </>
  );
}

const Missing = () => <p class="muted">Not there at this point of the run.</p>;

function AttemptDetails({ attempt }: { attempt: Attempt }): JSX.Element {
  const { started, outcome, firstAt, endedAt, startedAt } = attempt;
  const { usage } = outcome ?? {};
  const { warnings = [] } = started;
  const streamed = firstAt === undefined || endedAt === undefined ? undefined : endedAt - firstAt;
  const rate =
    streamed === undefined || streamed <= 0 || usage?.outputTokens === undefined
      ? undefined
      : (usage.outputTokens / streamed) * 1000;
  return (
    <>
      <Facts
        facts={[
          ["model", attempt.model],
          ["provider", started.provider],
          ["attempt", String(started.attempt)],
          ["first token", firstAt === undefined ? undefined : duration(firstAt - startedAt)],
          ["streamed", streamed === undefined ? undefined : duration(streamed)],
          ["tokens/s", rate === undefined ? undefined : rate.toFixed(1)],
          ["finish", attempt.finish],
          ["input tokens", usage?.inputTokens?.toString()],
          ["cached", usage?.cacheReadTokens?.toString()],
          ["output tokens", usage?.outputTokens?.toString()],
          ["reasoning tokens", usage?.reasoningTokens?.toString()],
          ["pieces", String(attempt.deltas)],
          ["retracted", attempt.retracted],
        ]}
      />
      {attempt.error === undefined ? null : (
        <Section title="Error">
          <Json value={attempt.error} />
        </Section>
      )}
      {warnings.length === 0 ? null : (
        <Section title="Not sent to the model">
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{printable(warning)}</li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

const steps = new Set(["run.started", "generation.finished", "tool.finished", "round.finished"]);

function EventDetails({ event, fork }: { event: RunEvent; fork: Fork }): JSX.Element {
  return (
    <>
      <Facts
        facts={[
          ["seq", String(event.seq)],
          ["at", clockTime(event.at)],
        ]}
      />
      <Section title="Event">
        <Json value={event} />
      </Section>
      <div class="actions">
        <CopyButton text={() => stringify(event)} label="Copy event" />
        {steps.has(event.type) ? <ForkButton after={event.seq} fork={fork} /> : null}
        {isFromWire(event) && may("inspect") ? (
          <button type="button" onClick={() => setQuery({ view: "wire", event: String(event.seq) })}>
            Its bytes
          </button>
        ) : null}
      </div>
    </>
  );
}
