import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { byWhom } from "venturi/internal/fold";
import { FilterBar } from "../components/filter-bar.tsx";
import { Empty, Header } from "../components/header.tsx";
import { Icon } from "../components/icon.tsx";
import { bindPage } from "../components/palette.tsx";
import { MiniRibbon } from "../components/ribbon.tsx";
import { Rows } from "../components/rows.tsx";
import { Skeleton } from "../components/skeleton.tsx";
import { Status } from "../components/status.tsx";
import { TotalsBar } from "../components/totals.tsx";
import { isEnded, type RunRow, tookOf } from "../state/api-types.ts";
import { slowClock } from "../state/clock.ts";
import { go, query, to } from "../state/router.ts";
import { useRuns } from "../state/runs.ts";
import { agents, mayFor, me } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { ago, count, duration, money, oneLine, plain, short, shortRun } from "../text/words.ts";

/** All runs, newest first. */
export function RunsPage(): JSX.Element {
  const list = useRuns(query.value);
  const marked = useSignal<string | undefined>(undefined);
  const open = (row: RunRow | undefined) => row !== undefined && go(to("runs", row.run));
  useLayoutEffect(
    () => bindPage([{ word: "Search", hint: "/", key: "/", run: () => document.getElementById("search")?.focus() }]),
    [],
  );
  const mark = (run: string) => {
    const first = marked.value;
    if (first === undefined) marked.value = run;
    else if (first === run) marked.value = undefined;
    else go(`${to("compare")}?a=${encodeURIComponent(first)}&b=${encodeURIComponent(run)}`);
  };
  const { rows, fresh, error, loading } = list;
  return (
    <div class="page runs-page">
      <Header title="Runs">
        <span class="fact">{loading ? "" : `${count(rows.length)}${list.more ? "+" : ""}`}</span>
      </Header>
      <FilterBar rows={rows} />
      <TotalsBar />
      {marked.value === undefined ? null : (
        <div class="banner">
          <Icon name="compare" size={14} /> Choose the run to compare {shortRun(marked.value)} with.
          <button type="button" class="quiet small" onClick={() => (marked.value = undefined)}>
            Cancel
          </button>
        </div>
      )}
      {fresh === 0 ? null : (
        <button type="button" class="fresh" onClick={list.showFresh}>
          {fresh}
          {list.freshMore ? "+" : ""} new {fresh === 1 ? "run" : "runs"}
        </button>
      )}
      {error === undefined ? null : (
        <p class="problem" role="alert">
          <Icon name="warning" size={14} /> {printable(error)}
        </p>
      )}
      {rows.length === 0 && !loading ? (
        error === undefined ? (
          <Nothing />
        ) : (
          <Empty title="The runs could not be read">
            <button type="button" onClick={list.again}>
              Try again
            </button>
          </Empty>
        )
      ) : (
        <>
          <div class="run-head run-row" aria-hidden="true">
            <span />
            <span>Run</span>
            <span>Agent</span>
            <span class="num">Took</span>
            <span>Time</span>
            <span class="num">Tokens</span>
            <span class="num">Cost</span>
            <span class="num">Started</span>
            <span />
          </div>
          {loading && rows.length === 0 ? <Skeleton rows={10} /> : null}
          <Rows
            label="Runs"
            className="run-list"
            count={rows.length}
            height={44}
            selected={-1}
            main
            href={(index) => to("runs", rows[index]?.run ?? "")}
            choose={(index) => open(rows[index])}
            reachedEnd={list.loadMore}
            row={(index) => {
              const row = rows[index];
              return row === undefined ? null : <RunLine row={row} marked={row.run === marked.value} mark={mark} />;
            }}
          />
        </>
      )}
    </div>
  );
}

function RunLine({ row, marked, mark }: { row: RunRow; marked: boolean; mark: (run: string) => void }): JSX.Element {
  const { digest } = row;
  const started = row.createdAt ?? 0;
  const tokens = digest?.usage?.outputTokens;
  return (
    <div class="run-row">
      <Status status={row.status} compact />
      <span class="run-words">
        <span class="in">{printable(short(oneLine(digest?.input ?? row.asked) || shortRun(row.run), 160))}</span>
        <span class="out faint">
          {row.status === "cancelled" ? (
            `Stopped${printable(byWhom(digest?.cancelledBy))}`
          ) : digest?.code === undefined ? (
            printable(short(plain(digest?.output), 160))
          ) : (
            <b class="bad">{printable(digest.code)}</b>
          )}
        </span>
      </span>
      <span class="muted">
        <bdi>{printable(row.agent ?? "")}</bdi>
        {me.value.tenants === "all" ? <span class="tag">{printable(row.tenant ?? "")}</span> : null}
      </span>
      <span class="num mono">{isEnded(row.status) ? duration(tookOf(row)) : "–"}</span>
      {digest?.timing === undefined ? <span class="mini-ribbon" /> : <MiniRibbon timing={digest.timing} />}
      <span class="num mono muted">{tokens === undefined ? "" : count(tokens)}</span>
      <span class="num mono muted">{digest?.cost === undefined ? "" : money(digest.cost)}</span>
      <span class="num faint" title={new Date(started).toISOString()}>
        {ago(started, slowClock.value)}
      </span>
      <span class="row-acts">
        {isEnded(row.status) && mayFor(row.tenant, "start") ? (
          <a
            class="button quiet small"
            href={`${to("runs", row.run)}?edit=1`}
            aria-label={`Edit and run ${shortRun(row.run)} again`}
            title="Edit and run again"
            tabIndex={-1}
          >
            <Icon name="edit" size={14} />
          </a>
        ) : null}
        <button
          type="button"
          title="Compare"
          class={marked ? "quiet small on" : "quiet small"}
          aria-label={`Compare ${shortRun(row.run)}`}
          aria-pressed={marked}
          tabIndex={-1}
          onClick={(event) => {
            event.stopPropagation();
            mark(row.run);
          }}
        >
          <Icon name="compare" size={14} />
        </button>
      </span>
    </div>
  );
}

function Nothing(): JSX.Element {
  if (query.value.size > 0) {
    return (
      <Empty title="No run matches">
        <a href={to("runs")}>Show all runs</a>
      </Empty>
    );
  }
  const [agent] = agents.value;
  return (
    <Empty title="No runs yet">
      <p class="muted">Start one here, or at the terminal:</p>
      <pre class="raw">npx venturi run {agent?.name ?? "assistant"} "What is 17 * 23?"</pre>
      <a class="button primary" href={to("chat")}>
        Start a conversation
      </a>
    </Empty>
  );
}
