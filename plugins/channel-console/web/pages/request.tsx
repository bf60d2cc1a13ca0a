import type { JSX } from "preact";
import { CopyButton } from "../parts/copy.tsx";
import { Facts, Section } from "../parts/inspector.tsx";
import { Json } from "../parts/json.tsx";
import { TraceLink } from "../parts/trace-link.tsx";
import type { LiveRun } from "../state/live.ts";
import { to } from "../state/router.ts";
import { agents } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { clockTime, shortRun } from "../text/words.ts";

/** What the run was asked with, and how to ask it again. */
export function RequestView({ live }: { live: LiveRun }): JSX.Element {
  live.tick.value;
  const view = live.whole;
  const agent = agents.value.find(({ name }) => name === view.agent);
  const body = {
    agent: view.agent,
    input: view.input,
    ...(view.metadata === undefined ? {} : { metadata: view.metadata }),
  };
  const quoted = JSON.stringify(body).replaceAll("'", "'\\''");
  const curl = `curl -N ${location.origin}/v1/runs -H "accept: text/event-stream" -H "content-type: application/json" \\\n  -d '${quoted}'`;
  return (
    <div class="scroll request">
      <Facts
        facts={[
          ["run", live.id],
          ["agent", view.agent],
          ["model", agent?.model],
          [
            "session",
            view.session === undefined ? undefined : (
              <a href={to("chat", view.agent, view.session)}>{printable(view.session)}</a>
            ),
          ],
          [
            "started",
            view.startedAt === 0
              ? undefined
              : `${new Date(view.startedAt).toDateString()}, ${clockTime(view.startedAt)}`,
          ],
          ["config", view.config],
          ["trace", view.trace === undefined ? undefined : <TraceLink key="trace" trace={view.trace} />],
          [
            "called by",
            view.parent === undefined ? undefined : (
              <a href={to("runs", view.parent.run)}>{shortRun(view.parent.run)}</a>
            ),
          ],
          [
            "forked from",
            view.fork === undefined ? undefined : (
              <a href={`${to("runs", view.fork.run)}?at=${view.fork.after}`}>{shortRun(view.fork.run)}</a>
            ),
          ],
        ]}
      />
      <Section title="Input">
        <Json value={view.input ?? {}} />
      </Section>
      {view.metadata === undefined ? null : (
        <Section title="Metadata">
          <Json value={view.metadata} />
        </Section>
      )}
      <Section title="As a command">
        <div class="with-copy">
          <pre class="raw">{printable(curl)}</pre>
          <CopyButton text={curl} label="Copy the command" />
        </div>
      </Section>
      {agent === undefined || agent.tools.length === 0 ? null : (
        <Section title="Tools offered now">
          {agent.tools.map(({ name, description, parameters }) => (
            <details key={name} class="tool-offer">
              <summary>
                <b class="mono">{printable(name)}</b> <span class="muted">{printable(description)}</span>
              </summary>
              <Json value={parameters} />
            </details>
          ))}
        </Section>
      )}
    </div>
  );
}
