import type { JSX } from "preact";
import type { Notice, RunView } from "../fold/view.ts";
import type { EventOf, Message } from "../state/api-types.ts";
import { useResource } from "../state/resource.ts";
import { to } from "../state/router.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { ago, shortRun } from "../text/words.ts";

/** Details of a notice: the turns replaced by a summary, or the recalled notes. */
export function Unfolded({ event, view }: { event: Notice["event"]; view: RunView }): JSX.Element | null {
  if (event.type === "context.compacted") {
    return (
      <>
        <p class="pre-wrap">{printable(event.summary ?? "")}</p>
        <Folded event={event} view={view} />
      </>
    );
  }
  if (event.type !== "memory.recalled") return null;
  return (
    <ul class="unfolded">
      {event.notes.map(({ id, scope, owner, text, at, score }) => (
        <li key={`${scope} ${owner} ${id}`}>
          <span class="pre-wrap">{printable(text ?? id)}</span>{" "}
          <span class="faint">
            {scope} {printable(owner)}, {ago(at, Date.now())}, score {score.toFixed(4)}
          </span>
        </li>
      ))}
    </ul>
  );
}

interface Earlier {
  readonly run: string;
  readonly createdAt?: number;
  readonly input?: { readonly text?: string };
  readonly output?: string;
  readonly digest?: { readonly input?: string; readonly output?: string };
}

/** The turns replaced by a summary: of the session's earlier runs, and of this run's input. */
function Folded({ event, view }: { event: EventOf<"context.compacted">; view: RunView }): JSX.Element {
  const { messages = 0, session: before = 0 } = event.range ?? {};
  const own = (view.started?.input.messages ?? []).slice(0, Math.max(0, messages - before));
  const { session } = view;
  return (
    <>
      {before > 0 && session !== undefined ? <EarlierRuns session={session} view={view} /> : null}
      <ol class="unfolded">
        {own.map((message, index) => (
          <li key={index}>
            <span class="tag">{message.role}</span> <span class="pre-wrap">{printable(saidIn(message))}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

function EarlierRuns({ session, view }: { session: string; view: RunView }): JSX.Element {
  const { data, error } = useResource(
    (signal) =>
      client.value.request<{ runs: Earlier[] }>({
        op: "session.get",
        path: `/v1/sessions/${encodeURIComponent(session)}`,
        query: { limit: 200 },
        signal,
      }),
    [session],
  );
  if (error !== undefined) return <p class="muted">{printable(error.message)}</p>;
  const runs = (data?.runs ?? []).filter(
    ({ run, createdAt }) => run !== view.run && (createdAt ?? 0) <= view.startedAt,
  );
  return (
    <ol class="unfolded">
      {runs.map(({ run, input, output, digest }) => (
        <li key={run}>
          <a class="mono" href={to("runs", run)}>
            {shortRun(run)}
          </a>{" "}
          <span class="pre-wrap">{printable(input?.text ?? digest?.input ?? "")}</span>{" "}
          <span class="pre-wrap muted">{printable(output ?? digest?.output ?? "")}</span>
        </li>
      ))}
    </ol>
  );
}

const saidIn = ({ parts }: Message): string =>
  parts.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
