import type { JSX } from "preact";
import { Empty, Header } from "../parts/header.tsx";
import { Icon } from "../parts/icon.tsx";
import { MiniRibbon } from "../parts/ribbon.tsx";
import { Rows } from "../parts/rows.tsx";
import { Status } from "../parts/status.tsx";
import { isEnded, type RunRow } from "../state/api-types.ts";
import { slowClock } from "../state/clock.ts";
import { useResource } from "../state/resource.ts";
import { go, query, setQuery, to } from "../state/router.ts";
import { client, may } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { ago, count, duration, short, shortRun } from "../text/words.ts";

interface SessionRow {
  readonly session: string;
  readonly agent?: string;
  readonly agents?: readonly string[];
  readonly runs?: number;
  readonly updatedAt?: number;
  readonly lastAt?: number;
  readonly input?: string;
  readonly last?: RunRow;
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
}

/** Conversations, newest first; one of them with its runs in order. */
export function SessionsPage(): JSX.Element {
  const chosen = query.value.get("session");
  return chosen === null ? <List /> : <One key={chosen} session={chosen} />;
}

function List(): JSX.Element {
  const words = query.value.get("q") ?? "";
  const { data, error, loading } = useResource((signal) => readSessions(words, signal), [words], 10_000);
  const rows = data ?? [];
  return (
    <div class="page">
      <Header title="Sessions">
        <span class="fact">{loading ? "" : count(rows.length)}</span>
      </Header>
      <div class="filters">
        <div class="search">
          <Icon name="search" size={14} />
          <input
            type="search"
            aria-label="Search sessions"
            placeholder="Search sessions"
            value={words}
            onChange={(event) => setQuery({ q: event.currentTarget.value.trim() })}
          />
        </div>
      </div>
      {error === undefined ? null : (
        <p class="problem bar" role="alert">
          {printable(error.message)}
        </p>
      )}
      {rows.length === 0 && !loading ? (
        <Empty title={words === "" ? "No sessions yet" : "No session matches"}>
          <p class="muted">A run belongs to a session when it is started with one; a chat here always is.</p>
          <a class="button primary" href={to("chat")}>
            Start a conversation
          </a>
        </Empty>
      ) : (
        <Rows
          label="Sessions"
          count={rows.length}
          height={44}
          selected={-1}
          choose={(index) => setQuery({ session: rows[index]?.session }, "push")}
          row={(index) => {
            const row = rows[index];
            if (row === undefined) return null;
            const at = row.updatedAt ?? row.lastAt;
            return (
              <div class="session-row">
                <Icon name="sessions" size={14} />
                <span class="run-words">
                  <span class="in">{printable(row.session)}</span>
                  <span class="out faint">
                    {printable(short(row.last?.digest?.input ?? row.last?.asked ?? row.input ?? "", 120))}
                  </span>
                </span>
                <span class="muted">{printable(row.last?.agent ?? row.agent ?? row.agents?.join(", ") ?? "")}</span>
                <span class="num mono">
                  {row.runs === undefined ? "" : `${row.runs} ${row.runs === 1 ? "run" : "runs"}`}
                </span>
                <span class="num faint">{at === undefined ? "" : ago(at, slowClock.value)}</span>
              </div>
            );
          }}
        />
      )}
    </div>
  );
}

/** From the service's list of sessions, or from the sessions of its newest runs where it has none. */
async function readSessions(q: string, signal: AbortSignal): Promise<readonly SessionRow[]> {
  const query = { limit: 200, ...(q === "" ? {} : { q }) };
  try {
    const { sessions } = await client.value.request<{ sessions: SessionRow[] }>({
      op: "session.list",
      path: "/v1/sessions",
      query,
      signal,
    });
    return sessions;
  } catch (thrown) {
    signal.throwIfAborted();
    const { runs } = await client.value.runs({ limit: 200, signal });
    const found = new Map<string, SessionRow>();
    for (const { session, agent, updatedAt } of runs) {
      if (session === undefined || !session.includes(q)) continue;
      const known = found.get(session);
      found.set(session, {
        session,
        ...(agent === undefined ? {} : { agent }),
        updatedAt: known?.updatedAt ?? updatedAt ?? 0,
        runs: (known?.runs ?? 0) + 1,
      });
    }
    if (found.size === 0 && runs.length === 0) throw thrown;
    return [...found.values()];
  }
}

type Turn = RunRow & {
  readonly input?: { readonly text?: string };
  readonly output?: string;
  readonly timing?: Readonly<Record<string, number>>;
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
  readonly error?: { readonly code: string };
};

function One({ session }: { session: string }): JSX.Element {
  const { data, error } = useResource(
    (signal) =>
      client.value.request<{ runs: Turn[] }>({
        op: "session.get",
        path: `/v1/sessions/${encodeURIComponent(session)}`,
        query: { limit: 200 },
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
  const most = Math.max(1, ...turns.map(({ usage }) => usage?.inputTokens ?? 0));
  return (
    <div class="page">
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
      </Header>
      <Rows
        label="Runs of the session"
        count={turns.length}
        height={64}
        selected={-1}
        choose={(index) => go(to("runs", turns[index]?.run ?? ""))}
        row={(index) => {
          const turn = turns[index];
          if (turn === undefined) return null;
          const took = (turn.updatedAt ?? 0) - (turn.createdAt ?? 0);
          const read = turn.usage?.inputTokens ?? 0;
          return (
            <div class="turn-row">
              <Status status={turn.status} compact />
              <span class="run-words">
                <span class="in">{printable(short(turn.input?.text ?? shortRun(turn.run), 160))}</span>
                <span class="out faint">{printable(short(turn.error?.code ?? turn.output ?? "", 200))}</span>
              </span>
              {turn.timing === undefined ? <span /> : <MiniRibbon timing={turn.timing} />}
              <span class="tokens" title={`${read} tokens read`}>
                <i style={{ width: `${Math.round((read / most) * 100)}%` }} />
                <span class="mono">{read === 0 ? "" : count(read)}</span>
              </span>
              <span class="num mono">{isEnded(turn.status) ? duration(took) : "–"}</span>
            </div>
          );
        }}
      />
    </div>
  );
}
