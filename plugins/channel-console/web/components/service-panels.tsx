import type { JSX } from "preact";
import { slowClock } from "../state/clock.ts";
import type { ServiceView } from "../state/service.ts";
import { printable } from "../text/printable.ts";
import { ago, count, duration } from "../text/words.ts";
import { Facts } from "./facts.tsx";
import { Icon } from "./icon.tsx";

export function ProcessPanel({ runs, backlog, eventLoop, journal, revision, node, process }: ServiceView): JSX.Element {
  return (
    <section class="panel">
      <h2>Process</h2>
      <Facts
        facts={[
          ["runs under way", String(runs.active)],
          ["in line", backlog === undefined ? undefined : queueWords(backlog)],
          ["for a person", backlog === undefined ? undefined : String(backlog.waiting)],
          ["readers", String(runs.followers)],
          ["event loop", `blocked ${duration(eventLoop.blockedMs)} of the last 10 s`],
          [
            "journal",
            `${journal.type}${journal.pingMs === undefined ? "" : `, answers in ${duration(journal.pingMs)}`}`,
          ],
          ["digests", journal.digests ? "kept" : "not kept by this journal"],
          ["revision", revision.hash],
          ["runs on older ones", String(revision.runsOnOld)],
          ["configuration", revision.file],
          ["node", node],
          ["process", String(process)],
        ]}
      />
    </section>
  );
}

export function ProvidersPanel({ providers, models }: ServiceView): JSX.Element {
  return (
    <section class="panel">
      <h2>Providers</h2>
      <table class="figures">
        <tbody>
          {providers.map(({ name, type, breaker, leftMs, open, lastError }) => (
            <tr key={name}>
              <th scope="row">
                {printable(name)} <span class="faint">{printable(type)}</span>
                {open?.map(({ model, state, tenants }) => (
                  <div class="faint small-text" key={model}>
                    {model === undefined ? "its connections" : printable(model)}: {breakerWords[state]}
                    {tenants === undefined ? "" : ` for ${tenants} ${tenants === 1 ? "tenant" : "tenants"} only`}
                  </div>
                ))}
                {lastError === undefined ? null : (
                  <div class="faint small-text">
                    {printable(lastError.code)} {ago(lastError.at, slowClock.value)}: {printable(lastError.err)}
                  </div>
                )}
              </th>
              <td class="num">
                <Breaker state={breaker} leftMs={leftMs} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2>Models</h2>
      <table class="figures">
        <tbody>
          {models.map(({ name, chain }) => (
            <tr key={name}>
              <th scope="row">{printable(name)}</th>
              <td class="mono">{printable(chain.join(" → "))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function ToolsPanel({ tools }: ServiceView): JSX.Element {
  return (
    <section class="panel">
      <h2>Tools</h2>
      <table class="figures">
        <thead>
          <tr>
            <th>Tool</th>
            <th>Effect</th>
            <th>Approval</th>
            <th class="wide-only">Agents</th>
          </tr>
        </thead>
        <tbody>
          {tools.map(({ name, description, effect, approval, agents }) => (
            <tr key={name}>
              <th scope="row" title={printable(description)}>
                <span class="mono">{printable(name)}</span>
              </th>
              <td>{printable(effect)}</td>
              <td>{printable(approval)}</td>
              <td class="muted wide-only">{printable(agents.join(", "))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function PluginsPanel({ channels, plugins, quirks }: ServiceView): JSX.Element {
  return (
    <section class="panel">
      <h2>Channels and plugins</h2>
      <p>
        {channels.map(({ name, type }) => (
          <span key={name} class="chip" title={printable(type)}>
            {printable(name)}
          </span>
        ))}
      </p>
      <p class="muted">{printable(plugins.join(", "))}</p>
      {quirks === undefined || Object.keys(quirks).length === 0 ? null : (
        <Facts facts={Object.entries(quirks).map(([name, times]) => [name, count(times)])} />
      )}
    </section>
  );
}

/** Runs of all processes that no worker has claimed yet. */
function queueWords({ ready, unexecutable }: NonNullable<ServiceView["backlog"]>): string {
  const stranded = unexecutable.map(({ agent, runs }) => `${runs} of ${agent}, which no process here has`);
  return [String(ready), ...stranded].join("; ");
}

/** What a breaker means for the next call. */
const breakerWords = { closed: "calls go through", "half-open": "the next call tries it", open: "calls are held back" };

/** A half-open breaker stays so until the next call; nothing is wrong by then. */
function Breaker({ state, leftMs }: { state: keyof typeof breakerWords; leftMs: number }): JSX.Element {
  const tone = { closed: "finished", "half-open": "waiting", open: "failed" }[state];
  return (
    <span class={`status ${tone}`} title={`its breaker is ${state}`}>
      <Icon name={state === "closed" ? "check" : state === "open" ? "warning" : "clock"} size={12} />
      {breakerWords[state]}
      {state === "open" ? `, ${duration(leftMs)} more` : ""}
    </span>
  );
}
