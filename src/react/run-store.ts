import { ClientError, type ErrorBody, type VenturiClient } from "../client/client.ts";
import { initialState, nextState, type RunState } from "./run-state.ts";

/** How long a run is followed after its last reader left, ms: StrictMode and navigation unmount and remount at once. */
const grace = 500;

/** Follows one run for all components that show it. */
export class RunStore {
  readonly #client: VenturiClient;
  readonly #id: string;
  readonly #listeners = new Set<() => void>();
  readonly #forget: () => void;
  #state: RunState;
  #following: AbortController | undefined;
  #leaving: ReturnType<typeof setTimeout> | undefined;

  constructor(client: VenturiClient, id: string, forget: () => void) {
    this.#client = client;
    this.#id = id;
    this.#forget = forget;
    this.#state = initialState(id);
  }

  readonly state = (): RunState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    clearTimeout(this.#leaving);
    if (this.#following === undefined) {
      this.#following = new AbortController();
      void this.#follow(this.#following.signal);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#leaving = setTimeout(() => this.#stop(), grace);
    };
  };

  #stop(): void {
    this.#following?.abort();
    this.#following = undefined;
    this.#forget();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    try {
      const batches = this.#client.run(this.#id).batches({
        after: this.#state.seq,
        signal,
        onConnection: (connection) => this.#set({ ...this.#state, connection }),
      });
      for await (const batch of batches) this.#set(batch.reduce(nextState, this.#state));
    } catch (thrown) {
      if (!signal.aborted) this.#set({ ...this.#state, status: "failed", error: errorBody(thrown) });
    }
  }

  #set(state: RunState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/** Converts anything thrown to the service's error format. */
export const errorBody = (thrown: unknown): ErrorBody =>
  thrown instanceof ClientError
    ? { op: thrown.op, code: thrown.code, err: thrown.message }
    : { op: "client", code: "internal", err: String(thrown) };

const stores = new WeakMap<VenturiClient, Map<string, RunStore>>();

/** The shared store of this run. */
export function storeOf(client: VenturiClient, id: string): RunStore {
  const ofClient = stores.get(client) ?? new Map<string, RunStore>();
  stores.set(client, ofClient);
  const store = ofClient.get(id) ?? new RunStore(client, id, () => ofClient.delete(id));
  ofClient.set(id, store);
  return store;
}
