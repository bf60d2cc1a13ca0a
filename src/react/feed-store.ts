import type { FeedItem, VenturiClient } from "../client/client.ts";

type Listener = (item: FeedItem) => void;

/** One feed shared by all components of a page. */
class FeedStore {
  readonly #client: VenturiClient;
  readonly #listeners = new Set<Listener>();
  #watching: AbortController | undefined;

  constructor(client: VenturiClient) {
    this.#client = client;
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#watching === undefined) {
      this.#watching = new AbortController();
      void this.#watch(this.#watching.signal);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#watching?.abort();
      this.#watching = undefined;
    };
  }

  async #watch(signal: AbortSignal): Promise<void> {
    try {
      for await (const item of this.#client.feed({ signal })) for (const listener of this.#listeners) listener(item);
    } catch {
      // Aborted, or refused permanently: loading the lists is then refused too and shows why.
    }
  }
}

const feeds = new WeakMap<VenturiClient, FeedStore>();

export function feedOf(client: VenturiClient): FeedStore {
  const feed = feeds.get(client) ?? new FeedStore(client);
  feeds.set(client, feed);
  return feed;
}
