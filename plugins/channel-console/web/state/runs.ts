import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { RunRow } from "./api-types.ts";
import { client } from "./session.ts";

export interface RunList {
  readonly rows: readonly RunRow[];
  /** Runs that began since: shown when the reader asks, so that the list never jumps. */
  readonly fresh: number;
  readonly error: string | undefined;
  readonly loading: boolean;
  readonly more: boolean;
  showFresh(): void;
  loadMore(): void;
}

interface Page {
  readonly runs: readonly RunRow[];
  readonly cursor?: string;
}

const every = 3000;
const passed = ["q", "agent", "status", "tool", "model", "code", "session", "min"] as const;

/** The list of runs for the words of the address, kept fresh. */
export function useRuns(words: URLSearchParams): RunList {
  const key = words.toString();
  const state = useMemo(
    () =>
      signal<{
        rows: readonly RunRow[];
        waiting: readonly RunRow[];
        cursor: string | undefined;
        error?: string;
        loading: boolean;
      }>({
        rows: [],
        waiting: [],
        cursor: undefined,
        loading: true,
      }),
    [key],
  );
  const ask = (cursor: string | undefined, signal?: AbortSignal) => {
    const query: Record<string, string | number | undefined> = { limit: 50, cursor };
    for (const name of passed) query[name] = words.get(name) ?? undefined;
    const last = Number(words.get("last") ?? 0);
    if (last > 0) query.since = Date.now() - last;
    return client.value.request<Page>({ op: "run.list", path: "/v1/runs", query, signal });
  };
  useEffect(() => {
    const abort = new AbortController();
    const load = async () => {
      try {
        const page = await ask(undefined, abort.signal);
        state.value = merge(state.value, page);
      } catch (thrown) {
        if (abort.signal.aborted) return;
        state.value = {
          ...state.value,
          loading: false,
          error: thrown instanceof Error ? thrown.message : String(thrown),
        };
      }
    };
    void load();
    const timer = setInterval(() => !document.hidden && void load(), every);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [key]);
  const { rows, waiting, cursor, error, loading } = state.value;
  let busy = false;
  return {
    rows,
    fresh: waiting.length,
    error,
    loading,
    more: cursor !== undefined,
    showFresh: () => {
      state.value = { ...state.value, rows: [...state.value.waiting, ...state.value.rows], waiting: [] };
    },
    loadMore: () => {
      if (cursor === undefined || busy) return;
      busy = true;
      ask(cursor).then(
        (page) => {
          state.value = { ...state.value, rows: [...state.value.rows, ...page.runs], cursor: page.cursor };
        },
        () => {},
      );
    },
  };
}

type State = {
  rows: readonly RunRow[];
  waiting: readonly RunRow[];
  cursor: string | undefined;
  error?: string;
  loading: boolean;
};

/** Rows that are shown are brought up to date in place; new ones wait. */
function merge(state: State, page: Page): State {
  if (state.loading || state.rows.length === 0) {
    return { rows: page.runs, waiting: [], cursor: page.cursor, loading: false };
  }
  const latest = new Map(page.runs.map((row) => [row.run, row]));
  const known = new Set(state.rows.map(({ run }) => run));
  return {
    ...state,
    error: undefined as never,
    rows: state.rows.map((row) => latest.get(row.run) ?? row),
    waiting: page.runs.filter(({ run }) => !known.has(run)),
  };
}
