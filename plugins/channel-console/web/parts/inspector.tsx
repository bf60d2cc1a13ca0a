import type { ComponentChildren, JSX } from "preact";
import { isRefusal } from "venturi/internal/fold";
import { type Attempt, argumentsOf, type Call, editedOf, outputOf } from "../fold/view.ts";
import { attemptId } from "../fold/waterfall.ts";
import { isFromWire } from "../fold/wire-events.ts";
import type { RunEvent } from "../state/api-types.ts";
import type { LiveRun } from "../state/live.ts";
import { setQuery, to } from "../state/router.ts";
import { may } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { clockTime, count, duration, shortRun } from "../text/words.ts";
import { callWords } from "./call.tsx";
import { Content } from "./content.tsx";
import { CopyButton } from "./copy.tsx";
import { Icon } from "./icon.tsx";
import { Json, stringify } from "./json.tsx";
import { TraceLink } from "./trace-link.tsx";

export interface InspectorProps {
  readonly live: LiveRun;
  /** `call ID`, `attempt R.A.SEQ`, `event SEQ`, `round N` or `run`. */
  readonly selected: string;
  readonly close: () => void;
  /** Opens the fork dialog at this event. */
  readonly fork?: ((after: number) => void) | undefined;
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

function bodyOf(live: LiveRun, selected: string, fork: InspectorProps["fork"]): ComponentChildren {
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

export const Section = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="detail">
    <h3>{title}</h3>
    {children}
  </section>
);

type Fact = readonly [string, ComponentChildren];

export function Facts({ facts }: { facts: readonly Fact[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === undefined || value === "" ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === "string" ? printable(value) : value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

const Id = ({ text }: { text: string }) => (
  <span class="id">
    <span class="mono">{printable(text)}</span>
    <CopyButton text={text} label="Copy" />
  </span>
);

const ForkButton = ({ after, fork }: { after: number; fork: InspectorProps["fork"] }) =>
  fork === undefined ? null : (
    <button type="button" onClick={() => fork(after)}>
      <Icon name="fork" size={14} /> Fork from here
    </button>
  );

function CallDetails({ call, run, fork }: { call: Call; run: string; fork: InspectorProps["fork"] }): JSX.Element {
  const { question, executed, finished } = call;
  const { ms, savedMs, shown, images = [], files = [] } = finished ?? {};
  const [given, output] = [argumentsOf(call), outputOf(call)];
  return (
    <>
      <Facts
        facts={[
          ["state", callWords[call.state]],
          ["took", ms === undefined ? undefined : duration(ms)],
          ["saved by starting early", savedMs === undefined ? undefined : duration(savedMs)],
          ["arguments took", call.readyAt === undefined ? undefined : duration(call.readyAt - call.startedAt)],
          ["attempts", executed !== undefined && executed.attempt > 1 ? String(executed.attempt) : undefined],
          ["call", <Id key="call" text={call.id} />],
          ["idempotency key", executed?.idempotencyKey],
          [
            "called run",
            call.child === undefined ? undefined : <a href={to("runs", call.child)}>{shortRun(call.child)}</a>,
          ],
          ["events", `${call.seq} to ${call.lastSeq}`],
        ]}
      />
      <Section title="Arguments">
        {given === undefined ? <pre class="raw">{printable(call.argumentsText)}</pre> : <Json value={given} />}
      </Section>
      {question === undefined ? null : <Answered call={call} question={question} />}
      {call.error === undefined ? null : (
        <Section title="Error">
          <Json value={call.error} />
        </Section>
      )}
      {output === undefined ? null : (
        <Section title={shown === undefined ? "Output" : `Output (the model saw ${count(shown)} characters)`}>
          <Output text={output} />
        </Section>
      )}
      {call.progress === "" ? null : (
        <Section title="Progress">
          <pre class="raw">{printable(call.progress.slice(-20_000))}</pre>
        </Section>
      )}
      {images.length + files.length === 0 ? null : (
        <Section title="Files">
          {[...images, ...files].map((content, index) => (
            <Content key={index} content={content} run={run} />
          ))}
        </Section>
      )}
      {call.endedAt === undefined ? null : <ForkButton after={call.lastSeq} fork={fork} />}
    </>
  );
}

function Answered({ call, question }: { call: Call; question: NonNullable<Call["question"]> }): JSX.Element {
  const { asked, answered } = question;
  const edited = editedOf(call);
  const forRun = answered?.type === "approval.resolved" && answered.for === "run";
  const said = isRefusal(answered) ? "denied" : forRun ? "allowed for the run" : "approved";
  return (
    <Section title="Approval">
      <Facts
        facts={[
          ["asked", clockTime(asked.at)],
          ["why", asked.type === "approval.requested" ? asked.reason : undefined],
          ["answer", answered === undefined ? "waiting" : said],
          ["by", answered?.by],
          ["reason", answered?.reason],
          ["waited", answered === undefined ? undefined : duration(answered.at - asked.at)],
        ]}
      />
      {edited === undefined ? null : (
        <>
          <p class="muted">Ran with these arguments instead:</p>
          <Json value={edited} />
        </>
      )}
    </Section>
  );
}

/** Output that is JSON is shown as such. */
function Output({ text }: { text: string }): JSX.Element {
  if (/^\s*[{[]/.test(text) && text.length < 100_000) {
    try {
      return <Json value={JSON.parse(text)} />;
    } catch {
      // Plain text then.
    }
  }
  const most = 50_000;
  return (
    <pre class="raw">
      {printable(text.length > most ? `${text.slice(0, most)}\n… ${text.length - most} more` : text)}
    </pre>
  );
}

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

function EventDetails({ event, fork }: { event: RunEvent; fork: InspectorProps["fork"] }): JSX.Element {
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
