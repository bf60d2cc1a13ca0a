import type { JSX } from "preact";
import { isRefusal, whoIn } from "venturi/internal/fold";
import { argumentsOf, type Call, editedOf, outputOf } from "../fold/view.ts";
import { to } from "../state/router.ts";
import { printable } from "../text/printable.ts";
import { clockTime, count, duration, shortRun } from "../text/words.ts";
import { callWords } from "./call.tsx";
import { Content } from "./content.tsx";
import { Facts, Id, Section } from "./facts.tsx";
import { Icon } from "./icon.tsx";
import { Json } from "./json.tsx";

/** Opens the fork dialog at an event; undefined if the key may not fork. */
export type Fork = ((after: number) => void) | undefined;

export const ForkButton = ({ after, fork }: { after: number; fork: Fork }) =>
  fork === undefined ? null : (
    <button type="button" onClick={() => fork(after)}>
      <Icon name="fork" size={14} /> Fork from here
    </button>
  );

/** All details of one tool call. */
export function CallDetails({ call, run, fork }: { call: Call; run: string; fork: Fork }): JSX.Element {
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
          ["by", whoIn(answered?.by)],
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
