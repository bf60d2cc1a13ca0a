import { outcomeOf, questionsOpened } from "venturi/internal";
import { type Append, encodeEvent, isTerminal } from "venturi/plugin";
import type { Write } from "./fragments.ts";
import { usageWrite } from "./money.ts";
import { blockOf, type Kind, type Names } from "./names.ts";
import { fence, type Standing, standingText, type Tail } from "./standing.ts";
import { bytesOf, empty } from "./stored.ts";

interface Record {
  readonly first: number;
  readonly last: number;
  readonly body: Uint8Array;
}

/** One append, encoded once. */
export class Item {
  readonly append: Append;
  readonly run: string;
  /** Seq of its first event; 0 without events. */
  readonly first: number;
  /** The head it continues. */
  readonly base: number;
  readonly text: string;
  readonly #records: readonly Record[];

  constructor(append: Append) {
    const { ownership, events } = append;
    const lines = events.map(encodeEvent);
    this.append = append;
    this.run = ownership.run;
    this.first = events[0]?.seq ?? 0;
    this.base = events[0] ? events[0].seq - 1 : ownership.head;
    this.text = lines.join("\n");
    this.#records = recordsOf({ first: this.first, lines, text: this.text, blocks: append.state === undefined });
  }

  /** Whether the preceding message has the same epoch and ends where the item begins. */
  fits(tail: Tail): boolean {
    return tail.epoch === this.append.ownership.epoch && tail.state === "running" && tail.head === this.base;
  }

  /** The run's state after it. */
  next(tail: Tail): Standing {
    const { ownership, state, seenSignals = 0, wakeAfter = 0, events } = this.append;
    const { epoch } = ownership;
    const head = this.base + events.length;
    const { signals, cancelled, worker } = tail;
    const asking = tail.asking + questionsOpened(events);
    const same = { epoch, head, signals, cancelled, worker, asking, wake: 0 };
    if (state === undefined) return { ...same, state: "running", outcome: tail.outcome };
    const last = events.at(-1);
    const outcome = last && isTerminal(last) ? outcomeOf(last) : tail.outcome;
    const parked = state === "waiting" && signals > seenSignals ? "ready" : state;
    return { ...same, state: parked, outcome, wake: parked === "waiting" ? wakeAfter : 0 };
  }

  /** The messages to store after `tail`, atomically. */
  writes(tail: Tail, names: Names): Write[] {
    const next = this.next(tail);
    const filter = names.run(this.run, "*");
    const { billed } = this.append;
    // First, so that the run's own message is the last of the batch.
    const told = billed === undefined || billed.usage.length === 0 ? [] : [usageWrite(names, this.run, billed)];
    const records = this.#records.map(({ first, last, body }, index) => {
      const isLast = index === this.#records.length - 1;
      const kind: Kind = next.state === "running" ? `e${blockOf(first)}` : "x";
      const standing = isLast ? next : { ...next, head: last };
      return {
        subject: names.run(this.run, kind),
        headers: `V: ${standingText(standing, { first, claim: false })}\r\n`,
        data: body,
        ...(index === 0 && { fence: fence(tail.seq, filter) }),
      };
    });
    return [...told, ...records];
  }
}

interface Lines {
  readonly first: number;
  readonly lines: readonly string[];
  readonly text: string;
  readonly blocks: boolean;
}

/** Usually one. Events that span two blocks become two records, each under its block's subject. */
function recordsOf({ first, lines, text, blocks }: Lines): Record[] {
  const last = first + lines.length - 1;
  if (lines.length === 0) return [{ first: 0, last: 0, body: empty }];
  if (!blocks || blockOf(first) === blockOf(last)) return [{ first, last, body: bytesOf(text) }];
  const groups = Map.groupBy(lines.entries(), ([index]) => blockOf(first + index));
  return [...groups.values()].map((group) => {
    const start = first + (group[0]?.[0] ?? 0);
    return { first: start, last: start + group.length - 1, body: bytesOf(group.map(([, line]) => line).join("\n")) };
  });
}
