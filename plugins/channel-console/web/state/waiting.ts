import { signal } from "@preact/signals";
import { announce } from "../parts/announce.tsx";
import { feedOpen, onFeed } from "./feed.ts";
import { client, may } from "./session.ts";

/** How many questions wait for a person. */
export const waiting = signal(0);
const every = 5_000;

/** Counts when the feed tells of a question, or now and then where there is no feed; returns what stops it. */
export function startWaiting(): () => void {
  const ask = async () => {
    if (!may("see")) return;
    const { approvals } = await client.value.approvals({ limit: 50 });
    if (approvals.length > waiting.value) announce(`${approvals.length} tool calls need approval`, "assertive");
    waiting.value = approvals.length;
    document.title = approvals.length > 0 ? `(${approvals.length}) Venturi` : "Venturi";
  };
  const again = () => void ask().catch(() => {});
  again();
  const timer = setInterval(() => !feedOpen.value && !document.hidden && again(), every);
  let soon: ReturnType<typeof setTimeout> | undefined;
  const stop = onFeed(({ type }) => {
    if (type !== "feed.opened" && type !== "feed.gap" && type !== "approval.requested" && type !== "approval.resolved")
      return;
    clearTimeout(soon);
    soon = setTimeout(again, 300);
  });
  return () => {
    clearInterval(timer);
    clearTimeout(soon);
    stop();
  };
}
