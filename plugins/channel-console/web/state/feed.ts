import { signal } from "@preact/signals";
import type { FeedItem } from "venturi/client";
import { client, may } from "./session.ts";

type Listener = (item: FeedItem) => void;

const listeners = new Set<Listener>();
/** Whether the feed is connected; otherwise lists are polled. */
export const feedOpen = signal(false);

/** Calls back for every feed item; returns a function that stops it. */
export function onFeed(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Reads the feed while the page is open; returns a function that stops it. */
export function startFeed(): () => void {
  const abort = new AbortController();
  const read = async () => {
    const onConnection = (state: string): void => {
      feedOpen.value = state === "open";
    };
    for await (const item of client.value.feed({ signal: abort.signal, onConnection })) {
      for (const listener of listeners) listener(item);
    }
  };
  if (may("see")) {
    read().catch(() => {
      feedOpen.value = false; // An older service, or one without the channel; pages poll instead.
    });
  }
  return () => abort.abort();
}
