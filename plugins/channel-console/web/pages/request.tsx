import type { JSX } from "preact";
import { CopyButton } from "../components/copy.tsx";
import { Facts, Section } from "../components/facts.tsx";
import { Json } from "../components/json.tsx";
import { PromptView } from "../components/prompt.tsx";
import { TraceLink } from "../components/trace-link.tsx";
import type { RunView } from "../fold/view.ts";
import type { LiveRun } from "../state/live.ts";
import { instructionsOf, usePrompt } from "../state/prompt.ts";
import { to } from "../state/router.ts";
import { agents, hasKey } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { clockTime, shortRun } from "../text/words.ts";

/** As a fork where it is one. The key is the shell's: it must not stand on a screen. */
function curlOf({ agent, started }: RunView, instructions: string | undefined): string {
  const { input, metadata, fork } = started ?? {};
  const body =
    fork === undefined
      ? { agent, input, ...(metadata === undefined ? {} : { metadata }) }
      : {
          after: fork.after,
          ...(fork.after === 1 && input !== undefined ? { input } : {}),
          ...(instructions === undefined ? {} : { instructions }),
        };
  const path = fork === undefined ? "/v1/runs" : `/v1/runs/${fork.run}/fork`;
  const key = hasKey.value ? ' -H "authorization: Bearer $VENTURI_KEY"' : "";
  const accept = fork === undefined ? ' -H "accept: text/event-stream"' : "";
  const quoted = JSON.stringify(body).replaceAll("'", "'\\''");
  return `curl -N ${location.origin}${path}${key}${accept} -H "content-type: application/json" \\\n  -d '${quoted}'`;
}

/** The run's request, and how to repeat it. */
export function RequestView({ live }: { live: LiveRun }): JSX.Element {
  live.tick.value;
  const view = live.whole;
  const agent = agents.value.find(({ name }) => name === view.agent);
  const { input = {}, metadata, config, trace, parent, fork } = view.started ?? {};
  const own = instructionsOf(usePrompt(fork === undefined ? undefined : live.id, 1).data);
  const original = instructionsOf(usePrompt(fork?.run, 1).data);
  const curl = curlOf(view, own === original ? undefined : own);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="scroll request" tabIndex={0} aria-label="Request">
      <h2 class="hidden-text">What the run was asked</h2>
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
          ["config", config],
          ["trace", trace === undefined ? undefined : <TraceLink key="trace" trace={trace} />],
          ["called by", parent === undefined ? undefined : <a href={to("runs", parent.run)}>{shortRun(parent.run)}</a>],
          [
            "forked from",
            fork === undefined ? undefined : (
              <a href={`${to("runs", fork.run)}?at=${fork.after}`}>{shortRun(fork.run)}</a>
            ),
          ],
        ]}
      />
      <PromptView live={live} />
      <Section title="Input">
        <Json value={input} />
      </Section>
      {metadata === undefined ? null : (
        <Section title="Metadata">
          <Json value={metadata} />
        </Section>
      )}
      <Section title="As a command">
        <div class="with-copy">
          <pre class="raw">{printable(curl)}</pre>
          {hasKey.value ? <p class="muted">Put the key into the shell's VENTURI_KEY.</p> : null}
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
    </section>
  );
}
