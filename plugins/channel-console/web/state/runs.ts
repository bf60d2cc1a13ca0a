import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { FeedItem } from "venturi/client";
import { momentOf } from "../text/search.ts";
import type { RunRow } from "./api-types.ts";
import { feedOpen, onFeed } from "./feed.ts";
import { cameBack } from "./router.ts";
import { client } from "./session.ts";

export interface RunList {
  readonly rows: readonly RunRow[];
  /** Number of new runs, shown on request, so that the list never jumps. */
  readonly fresh: number;
  /** There are more than `fresh`. */
  readonly freshMore: boolean;
  readonly error: string | undefined;
  readonly loading: boolean;
  readonly more: boolean;
  showFresh(): void;
  /** Retries after an error. */
  again(): void;
  loadMore(): void;
}

interface Page {
  readonly runs: readonly RunRow[];
  readonly cursor?: string;
}

interface State {
  readonly rows: readonly RunRow[];
  readonly waiting: readonly RunRow[];
  /** More runs started than fit on a page: some are missing between the new and the shown ones. */
  readonly gap: boolean;
  readonly cursor: string | undefined;
  readonly error: string | undefined;
  readonly loading: boolean;
}

const every = 3000;
const pageSize = 50;
const passed = [
  "q",
  "agent",
  "status",
  "tool",
  "model",
  "code",
  "session",
  "min",
  "key",
  "tenant",
  "sort",
  "label",
] as const;

/** The address's query as API parameters. */
export function listQuery(words: URLSearchParams): Record<string, string | number | undefined> {
  const query: Record<string, string | number | undefined> = {};
  for (const name of passed) query[name] = words.get(name) ?? undefined;
  for (const [name, value] of words) if (name.startsWith("metadata.")) query[name] = value;
  const now = Date.now();
  const last = Number(words.get("last") ?? 0); // Addresses of earlier releases.
  query.since = momentOf(words.get("since") ?? "", now) ?? (last > 0 ? now - last : undefined);
  query.until = momentOf(words.get("until") ?? "", now);
  return query;
}

/** Lists as they were left, for going back. */
const left = new Map<string, State>();
const mostLeft = 8;

/** The list of runs for the address's query, kept up to date by the feed. */
export function useRuns(words: URLSearchParams): RunList {
  const key = words.toString();
  const state = useMemo(
    () =>
      signal<State>(
        (cameBack ? left.get(key) : undefined) ?? {
          rows: [],
          waiting: [],
          gap: false,
          cursor: undefined,
          error: undefined,
          loading: true,
        },
      ),
    [key],
  );
  const turn = useMemo(() => signal(0), []);
  const ask = (cursor: string | undefined, abort?: AbortSignal) => {
    const query = { ...listQuery(words), limit: pageSize, cursor };
    return client.value.request<Page>({ op: "run.list", path: "/v1/runs", query, signal: abort });
  };
  useEffect(() => {
    const abort = new AbortController();
    const load = async () => {
      try {
        state.value = merge(state.value, await ask(undefined, abort.signal));
      } catch (thrown) {
        if (abort.signal.aborted) return;
        const error = thrown instanceof Error ? thrown.message : String(thrown);
        state.value = { ...state.value, loading: false, error };
      }
    };
    void load();
    const timer = setInterval(() => !document.hidden && !feedOpen.value && void load(), every);
    let soon: ReturnType<typeof setTimeout> | undefined;
    const stop = onFeed((item) => {
      state.value = { ...state.value, rows: state.value.rows.map((row) => updated(row, item)) };
      // Only the service knows whether a new run matches the filters; many at once trigger a single request.
      if (!["run.started", "feed.opened", "feed.gap"].includes(item.type) || soon !== undefined) return;
      soon = setTimeout(() => {
        soon = undefined;
        void load();
      }, 500);
    });
    return () => {
      left.delete(key);
      left.set(key, state.value);
      for (const oldest of [...left.keys()].slice(0, -mostLeft)) left.delete(oldest);
      abort.abort();
      clearInterval(timer);
      clearTimeout(soon);
      stop();
    };
  }, [key, turn.value]);
  const { rows, waiting, gap, cursor, error, loading } = state.value;
  const busy = useMemo(() => ({ value: false }), [cursor]);
  return {
    rows,
    fresh: waiting.length,
    freshMore: gap,
    error,
    loading,
    more: cursor !== undefined,
    again: () => {
      state.value = { ...state.value, loading: true, error: undefined };
      turn.value += 1;
    },
    showFresh: () => {
      if (gap) {
        state.value = { ...state.value, loading: true, rows: [] };
        turn.value += 1;
        return;
      }
      state.value = { ...state.value, rows: [...state.value.waiting, ...state.value.rows], waiting: [] };
    },
    loadMore: () => {
      if (cursor === undefined || busy.value) return;
      busy.value = true;
      ask(cursor).then(
        (page) => {
          state.value = { ...state.value, rows: [...state.value.rows, ...page.runs], cursor: page.cursor };
        },
        () => {},
      );
    },
  };
}

function updated(row: RunRow, item: FeedItem): RunRow {
  if (!("run" in item) || item.run !== row.run) return row;
  switch (item.type) {
    case "run.finished":
    case "run.failed":
      return { ...row, status: item.digest.status, digest: item.digest, updatedAt: item.at };
    case "approval.requested":
    case "question.asked":
      return { ...row, status: "waiting" };
    case "approval.resolved":
    case "question.answered":
    case "round.started":
      return { ...row, status: "running" };
    default:
      return row;
  }
}

/** Updates shown rows in place; new ones wait. */
function merge(state: State, page: Page): State {
  if (state.loading || state.rows.length === 0) {
    return { rows: page.runs, waiting: [], gap: false, cursor: page.cursor, error: undefined, loading: false };
  }
  const latest = new Map(page.runs.map((row) => [row.run, row]));
  const known = new Set(state.rows.map(({ run }) => run));
  const waited = new Set(state.waiting.map(({ run }) => run));
  const fresh = page.runs.filter(({ run }) => !known.has(run) && !waited.has(run));
  return {
    ...state,
    error: undefined,
    rows: state.rows.map((row) => latest.get(row.run) ?? row),
    waiting: [...fresh, ...state.waiting.map((row) => latest.get(row.run) ?? row)],
    gap: state.gap || (fresh.length === page.runs.length && fresh.length >= pageSize),
  };
}
