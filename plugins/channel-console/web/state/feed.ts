import { signal } from "@preact/signals";
import type { FeedItem } from "venturi/client";
import { client, may } from "./session.ts";

type Listener = (item: FeedItem) => void;

const listeners = new Set<Listener>();
/** Whether the service tells what happens; else lists are asked for now and then. */
export const feedOpen = signal(false);

/** Calls back for everything that happens in the service; returns what ends it. */
export function onFeed(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Reads the feed as long as the page is open; returns what stops it. */
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
      feedOpen.value = false; // an older service, or one without the channel; pages ask instead
    });
  }
  return () => abort.abort();
}
