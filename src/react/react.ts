import {
  createContext,
  createElement,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { Approval, ErrorBody, FeedItem, Run, TurnView, VenturiClient } from "../client/client.ts";
import { feedOf } from "./feed-store.ts";
import { initialState, type RunState } from "./run-state.ts";
import { errorBody, storeOf } from "./run-store.ts";

export type { CallState, RunState } from "./run-state.ts";

const Client = createContext<VenturiClient | undefined>(undefined);

/** Provides the client to the hooks below it. Create the client once, outside of components. */
export const VenturiProvider = ({ client, children }: { client: VenturiClient; children?: ReactNode }) =>
  createElement(Client.Provider, { value: client }, children);

export function useVenturi(): VenturiClient {
  const client = useContext(Client);
  if (client === undefined) throw new Error("there is no <VenturiProvider client={…}> around this component");
  return client;
}

const never = (): (() => void) => () => {};
const noRun = initialState("");
const none = (): RunState => noRun;

export type UseRun = RunState & Pick<Run, "approve" | "deny" | "answer" | "decline" | "steer" | "cancel">;

/** A run and its events from the first one on: also after a reload, and the same in every tab. */
export function useRun(id: string | undefined): UseRun {
  const client = useVenturi();
  const store = id === undefined ? undefined : storeOf(client, id);
  const state = useSyncExternalStore(store?.subscribe ?? never, store?.state ?? none, none);
  const actions = useMemo(() => {
    const run = client.run(id ?? "");
    return {
      approve: run.approve.bind(run),
      answer: run.answer.bind(run),
      decline: run.decline.bind(run),
      deny: run.deny.bind(run),
      steer: run.steer.bind(run),
      cancel: run.cancel.bind(run),
    };
  }, [client, id]);
  return { ...state, ...actions };
}

/** Loads a value, and reloads it on request. */
function useLoaded<Value>(load: (signal: AbortSignal) => Promise<Value>, initial: Value) {
  const [state, set] = useState<{ value: Value; isLoading: boolean; error?: ErrorBody }>({
    value: initial,
    isLoading: true,
  });
  const [version, setVersion] = useState(0);
  const reload = useCallback(() => setVersion((count) => count + 1), []);
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal).then(
      (value) => abort.signal.aborted || set({ value, isLoading: false }),
      (thrown: unknown) =>
        abort.signal.aborted || set((before) => ({ ...before, isLoading: false, error: errorBody(thrown) })),
    );
    return () => abort.abort();
  }, [load, version]);
  return { ...state, reload };
}

/** Calls `listener` for each item of the service's feed. */
function useFeed(listener: (item: FeedItem) => void): void {
  const client = useVenturi();
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => feedOf(client).subscribe((item) => latest.current(item)), [client]);
}

export interface UseSession {
  /** The turns so far, oldest first; the unfinished one is `current`. */
  readonly turns: readonly TurnView[];
  /** The unfinished turn, including one that another tab started. */
  readonly current: UseRun | undefined;
  /** Starts the next turn. */
  readonly send: (input: string) => Promise<Run>;
  readonly isLoading: boolean;
  readonly error?: ErrorBody;
}

const isEnded = (status: string): boolean => ["finished", "failed", "cancelled"].includes(status);

/** A conversation with an agent. */
export function useSession(session: string, { agent }: { agent: string }): UseSession {
  const client = useVenturi();
  const load = useCallback((signal: AbortSignal) => allTurns(client, session, signal), [client, session]);
  const { value, isLoading, error, reload } = useLoaded(load, [] as readonly TurnView[]);
  const [started, setStarted] = useState<string>();
  const open = value.find(({ status }) => !isEnded(status))?.run;
  const isListed = value.some(({ run, status }) => run === started && isEnded(status));
  const currentId = isListed ? open : (started ?? open);
  const current = useRun(currentId);
  const isOver = isEnded(current.status);
  useEffect(() => {
    if (isOver) reload();
  }, [isOver, reload]);
  useFeed((item) => {
    // Another tab or program continues this conversation.
    if (
      item.type === "feed.opened" ||
      item.type === "feed.gap" ||
      (item.type === "run.started" && item.session === session)
    )
      reload();
  });
  const send = useCallback(
    async (input: string) => {
      const run = await client.start({ agent, input, session });
      setStarted(run.id);
      return run;
    },
    [client, agent, session],
  );
  return {
    turns: value.filter(({ run }) => run !== currentId),
    current: currentId === undefined ? undefined : current,
    send,
    isLoading,
    ...(error === undefined || error.code === "not_found" ? {} : { error }),
  };
}

async function allTurns(client: VenturiClient, session: string, signal: AbortSignal): Promise<TurnView[]> {
  const turns: TurnView[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.session(session, { signal, ...(cursor === undefined ? {} : { cursor }) });
    turns.push(...page.runs);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return turns;
}

export interface UseApprovals {
  /** Everything waiting for a person, oldest run first. */
  readonly approvals: readonly Approval[];
  readonly approve: (approval: Approval, answer?: Parameters<Run["approve"]>[1]) => Promise<void>;
  readonly deny: (approval: Approval, answer?: Parameters<Run["deny"]>[1]) => Promise<void>;
  readonly isLoading: boolean;
  readonly error?: ErrorBody;
}

/** The open questions of all runs, or of one agent's; kept up to date by the feed. */
export function useApprovals({ agent }: { agent?: string } = {}): UseApprovals {
  const client = useVenturi();
  const load = useCallback(
    async (signal: AbortSignal) =>
      (await client.approvals({ signal, ...(agent === undefined ? {} : { agent }) })).approvals,
    [client, agent],
  );
  const { value, isLoading, error, reload } = useLoaded(load, [] as readonly Approval[]);
  useFeed((item) => {
    const { type } = item;
    if (agent !== undefined && "agent" in item && item.agent !== agent) return;
    const isChange = type.startsWith("approval.") || type === "run.finished" || type === "run.failed";
    if (isChange || type === "feed.opened" || type === "feed.gap") reload();
  });
  const approve = useCallback<UseApprovals["approve"]>(
    async ({ run, call }, answer) => {
      await client.run(run).approve(call, answer);
      reload();
    },
    [client, reload],
  );
  const deny = useCallback<UseApprovals["deny"]>(
    async ({ run, call }, answer) => {
      await client.run(run).deny(call, answer);
      reload();
    },
    [client, reload],
  );
  return { approvals: value, approve, deny, isLoading, ...(error === undefined ? {} : { error }) };
}
