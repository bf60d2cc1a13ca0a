import { isTerminal, type Journal } from "venturi/plugin";
import type { Lane } from "./lanes.ts";
import { type Message, messagesOf, placeAfter, seqOf } from "./message.ts";
import type { WebhookEvent, WebhookOptions } from "./webhook-options.ts";

const page = 200;
/** After this many events without a message, the position is worth storing. */
const farEnough = 2_000;

export interface Next {
  readonly messages: readonly Message[];
  /** Everything up to here was read. */
  readonly place: number;
  /** Nothing follows: the run has ended or is gone. */
  readonly last: boolean;
}

/** Messages produced by a run's last event. */
const atTheEnd: ReadonlySet<WebhookEvent> = new Set(["run.finished", "run.failed", "budget.exceeded"]);

/** The next messages of a run for a webhook; undefined if there are none yet. */
export async function nextMessages(journal: Journal, lane: Lane, options: WebhookOptions): Promise<Next | undefined> {
  const row = await journal.get(lane.run);
  if (row === undefined) return { messages: [], place: lane.place, last: true };
  const onlyEnd = options.events.every((event) => atTheEnd.has(event));
  if (row.state !== "done" && (onlyEnd || row.asking === 0)) return undefined;
  // The end is the last event; other messages come from anywhere before.
  let after = onlyEnd ? Math.max(0, row.head - 1) : Math.max(0, seqOf(lane.place));
  const from = after;
  while (after < row.head) {
    const events = await journal.read(lane.run, after, page);
    if (events.length === 0) break;
    after = events.at(-1)?.seq ?? row.head;
    const messages = events
      .flatMap((event) => messagesOf(row, event, options))
      .filter(({ place }) => place > lane.place);
    const last = events.some(isTerminal);
    if (messages.length > 0 || last) return { messages, place: placeAfter(after), last };
    if (after - from >= farEnough) return { messages: [], place: placeAfter(after), last: false };
  }
  // Its last message was delivered by a later attempt; only the completion is left to store.
  return row.state === "done" ? { messages: [], place: placeAfter(row.head), last: true } : undefined;
}
