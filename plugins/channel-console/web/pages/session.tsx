import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Conversation } from "../components/conversation.tsx";
import { Empty, Header } from "../components/header.tsx";
import { Icon } from "../components/icon.tsx";
import { MiniRibbon } from "../components/ribbon.tsx";
import { Rows } from "../components/rows.tsx";
import { Status } from "../components/status.tsx";
import { StickyScroll } from "../components/sticky-scroll.tsx";
import { isEnded, type RunRow, tookOf } from "../state/api-types.ts";
import { useOwner } from "../state/foreign.ts";
import { liveRun } from "../state/live.ts";
import { useResource } from "../state/resource.ts";
import { go, query, setQuery, to } from "../state/router.ts";
import { client, may, me } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { count, duration, plain, short, shortRun } from "../text/words.ts";

type Turn = RunRow & {
  readonly input?: { readonly text?: string };
  readonly output?: string;
  readonly timing?: Readonly<Record<string, number>>;
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
  readonly error?: { readonly code: string };
};

/** One conversation, as a transcript or as a list of runs. */
export function SessionView({ session, tenant }: { session: string; tenant: string | null }): JSX.Element {
  useOwner(tenant ?? me.value.tenant);
  const asRuns = query.value.get("as") === "runs";
  const { data, error } = useResource(
    (signal) =>
      client.value.request<{ runs: Turn[] }>({
        op: "session.get",
        path: `/v1/sessions/${encodeURIComponent(session)}`,
        query: { limit: 200, tenant: tenant ?? undefined },
        signal,
      }),
    [session],
    10_000,
  );
  if (error !== undefined) {
    return (
      <Empty title="This session cannot be shown">
        <p class="muted">{printable(error.message)}</p>
        <a href={to("sessions")}>All sessions</a>
      </Empty>
    );
  }
  const turns = data?.runs ?? [];
  const agent = turns.at(-1)?.agent;
  return (
    <div class="page session-page">
      <Header
        title={
          <span class="run-title">
            <a class="crumb" href={to("sessions")}>
              Sessions
            </a>
            <span class="faint">/</span>
            <bdi>{printable(session)}</bdi>
          </span>
        }
        actions={
          agent === undefined || !may("start") ? null : (
            <a class="button primary" href={to("chat", agent, session)}>
              <Icon name="chat" size={14} /> Continue
            </a>
          )
        }
      >
        <span class="fact">
          {turns.length} {turns.length === 1 ? "run" : "runs"}
        </span>
        <fieldset class="segmented" aria-label="Show as">
          <button type="button" aria-pressed={!asRuns} onClick={() => setQuery({ as: undefined })}>
            Transcript
          </button>
          <button type="button" aria-pressed={asRuns} onClick={() => setQuery({ as: "runs" })}>
            Runs
          </button>
        </fieldset>
      </Header>
      {asRuns ? <Turns turns={turns} /> : <Transcript runs={turns.map(({ run }) => run)} />}
    </div>
  );
}

const shownAtFirst = 20;

/** All turns in sequence, each with its run. */
function Transcript({ runs }: { runs: readonly string[] }): JSX.Element {
  const shown = useSignal(shownAtFirst);
  const hidden = Math.max(0, runs.length - shown.value);
  const lives = useMemo(() => runs.slice(hidden).map(liveRun), [runs.join(" "), hidden]);
  useEffect(() => {
    const releases = lives.map((live) => live.hold());
    return () => {
      for (const release of releases) release();
    };
  }, [lives]);
  return (
    <StickyScroll live={lives.at(-1)}>
      {hidden === 0 ? null : (
        <p class="center-line">
          <button type="button" class="quiet" onClick={() => (shown.value += shownAtFirst)}>
            {hidden} earlier turns
          </button>
        </p>
      )}
      {lives.map((live) => (
        <section key={live.id} class="turn" aria-label={`Run ${shortRun(live.id)}`}>
          <p class="turn-head">
            <a class="mono" href={to("runs", live.id)}>
              {shortRun(live.id)}
            </a>
          </p>
          <Conversation live={live} selected={undefined} select={(id) => go(selectIn(live.id, id))} />
        </section>
      ))}
    </StickyScroll>
  );
}

const selectIn = (run: string, id: string): string => `${to("runs", run)}?select=${encodeURIComponent(id)}`;

function Turns({ turns }: { turns: readonly Turn[] }): JSX.Element {
  const most = Math.max(1, ...turns.map(({ usage }) => usage?.inputTokens ?? 0));
  return (
    <Rows
      label="Runs of the session"
      count={turns.length}
      height={64}
      selected={-1}
      main
      href={(index) => to("runs", turns[index]?.run ?? "")}
      choose={(index) => go(to("runs", turns[index]?.run ?? ""))}
      row={(index) => {
        const turn = turns[index];
        if (turn === undefined) return null;
        const read = turn.usage?.inputTokens ?? 0;
        return (
          <div class="turn-row">
            <Status status={turn.status} compact />
            <span class="run-words">
              <span class="in">{printable(short(turn.input?.text ?? shortRun(turn.run), 160))}</span>
              <span class="out faint">
                {printable(short(turn.error?.code ?? plain(turn.digest?.output ?? turn.output), 200))}
              </span>
            </span>
            {turn.timing === undefined ? <span /> : <MiniRibbon timing={turn.timing} />}
            <span class="tokens" title={`${read} tokens read`}>
              <i style={{ width: `${Math.round((read / most) * 100)}%` }} />
              <span class="mono">{read === 0 ? "" : `${count(read)} in`}</span>
            </span>
            <span class="num mono">{isEnded(turn.status) ? duration(tookOf(turn)) : "–"}</span>
          </div>
        );
      }}
    />
  );
}
