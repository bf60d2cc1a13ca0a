import { VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { RunEvent } from "../../core/run/events.ts";
import { mayBeCut } from "../../core/run/page.ts";
import {
  type AnsweredEvent,
  type AskedEvent,
  isAnswered,
  isAsked,
  type PendingQuestion,
  pendingOf,
} from "../../core/run/questions.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import type { SignalBody } from "../../core/run/signals.ts";

const page = 1_000;
/** The open questions of a waiting run are nearly always among its last few events. */
const firstWindow = 16;

/** What a run's events say about one call. */
export interface AskedAbout {
  /**
   * How often the run asked about it. An answer belongs to one question: after a crash an unfinished call is asked about again, and that
   * answer is not a duplicate of the first.
   */
  readonly count: number;
  /** The call has finished, or all questions about it are answered. */
  readonly answered: boolean;
  /** The last question about it. */
  readonly asked: AskedEvent | undefined;
  /** The answer to it. */
  readonly verdict: Omit<SignalBody<"approve">, "call"> | undefined;
}

/** Rejects with `not_found` when the call does not exist in the run. */
export async function askedAbout(journal: Journal, run: string, call: string): Promise<AskedAbout> {
  let count = 0;
  let known = false;
  let answered = false;
  let asked: AskedEvent | undefined;
  let last: AnsweredEvent | undefined;
  const open = new Set<string>();
  for await (const event of eventsOf(journal, run)) {
    if (isAsked(event)) open.add(event.call);
    else if (isAnswered(event)) open.delete(event.call);
    if (!("call" in event) || event.call !== call) continue;
    known = true;
    if (isAsked(event)) {
      count += 1;
      asked = event;
      last = undefined;
    } else if (isAnswered(event)) last = event;
    if (isAnswered(event) || event.type === "tool.finished" || event.type === "tool_call.rejected") {
      answered = true;
    } else if (isAsked(event) || event.type === "tool_call.ready") answered = false;
  }
  if (known) return { count, answered, asked, verdict: last && verdictOf(last) };
  const waits = open.size === 0 ? "it waits for nobody" : `it waits for: ${[...open].join(", ")}`;
  throw new VenturiError("run.signal", "not_found", `the run ${run} has no call "${call}"; ${waits}`);
}

function verdictOf(event: AnsweredEvent): Omit<SignalBody<"approve">, "call"> {
  const { reason, by } = event;
  const said = { ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) };
  if (event.type === "approval.resolved") return { approved: event.approved, ...said };
  return { approved: event.answered, ...said, ...(event.answer === undefined ? {} : { answer: event.answer }) };
}

async function* eventsOf(journal: Journal, run: string): AsyncGenerator<RunEvent> {
  for (let after = 0; ; ) {
    const events = await journal.read(run, after, page);
    yield* events;
    after += events.length;
    if (events.length < page && !mayBeCut(events)) return;
  }
}

/** All events after `start` up to `end`; a page may be cut short by its size. */
async function readRange(journal: Journal, run: string, { start, end }: { start: number; end: number }) {
  const events: RunEvent[] = [];
  while (start + events.length < end) {
    const more = await journal.read(run, start + events.length, end - start - events.length);
    if (more.length === 0) break;
    events.push(...more);
  }
  return events;
}

/** Unanswered questions, oldest first. Reads backwards until all are found, since in a waiting run they are among the last events. */
export async function openQuestions(journal: Journal, row: RunRow): Promise<PendingQuestion[]> {
  if (row.state === "done" || row.asking <= 0) return [];
  const answered = new Map<string, number>();
  const open: AskedEvent[] = [];
  let window = firstWindow;
  for (let end = row.head; end > 0 && open.length < row.asking; window = Math.min(page, window * 4)) {
    const start = Math.max(0, end - window);
    for (const event of (await readRange(journal, row.run, { start, end })).reverse()) {
      if (isAnswered(event)) answered.set(event.call, (answered.get(event.call) ?? 0) + 1);
      if (!isAsked(event)) continue;
      const answers = answered.get(event.call) ?? 0;
      if (answers === 0) open.push(event);
      else answered.set(event.call, answers - 1);
    }
    end = start;
  }
  return open.reverse().map(pendingOf);
}
