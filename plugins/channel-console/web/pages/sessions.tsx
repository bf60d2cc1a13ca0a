import type { JSX } from "preact";
import { Empty, Header } from "../components/header.tsx";
import { Icon } from "../components/icon.tsx";
import { TenantTag } from "../components/question-line.tsx";
import { Rows } from "../components/rows.tsx";
import { Skeleton } from "../components/skeleton.tsx";
import type { RunRow } from "../state/api-types.ts";
import { slowClock } from "../state/clock.ts";
import { useResource } from "../state/resource.ts";
import { go, query, setQuery, to } from "../state/router.ts";
import { client, me } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { ago, count, short } from "../text/words.ts";
import { SessionView } from "./session.tsx";

interface SessionRow {
  readonly session: string;
  readonly tenant?: string;
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
  return chosen === null ? <List /> : <SessionView key={chosen} session={chosen} tenant={query.value.get("tenant")} />;
}

/** Includes the tenant, since two tenants may use the same name. */
function addressOf(row: SessionRow | undefined): string {
  const tenant = row?.tenant === me.value.tenant ? undefined : row?.tenant;
  const words = new URLSearchParams({ session: row?.session ?? "", ...(tenant === undefined ? {} : { tenant }) });
  return `${to("sessions")}?${words}`;
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
        <>
          {loading && rows.length === 0 ? <Skeleton rows={8} /> : null}
          <Rows
            label="Sessions"
            count={rows.length}
            height={44}
            selected={-1}
            main
            href={(index) => addressOf(rows[index])}
            choose={(index) => go(addressOf(rows[index]))}
            row={(index) => {
              const row = rows[index];
              if (row === undefined) return null;
              const at = row.updatedAt ?? row.lastAt;
              return (
                <div class="session-row">
                  <Icon name="sessions" size={14} />
                  <span class="run-words">
                    <span class="in">
                      {printable(row.session)} <TenantTag tenant={row.tenant} />
                    </span>
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
        </>
      )}
    </div>
  );
}

/** From the service's session list or, if it has none, from the sessions of the newest runs. */
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
