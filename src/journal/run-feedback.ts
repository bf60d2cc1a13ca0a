import { complaintsOf } from "../core/errors/complaints.ts";
import { VenturiError } from "../core/errors/errors.ts";
import type { Journal } from "../core/journal/journal.ts";
import { type Feedback, feedbackFits, GivenFeedback } from "../core/run/feedback.ts";
import { asksDigests, noDigests, type RunsQuery } from "../core/run/list-query.ts";
import { rowFits } from "../core/run/row-fits.ts";
import type { RunRow } from "../core/run/run-row.ts";
import { changeNotes, eachNotes, keyBefore } from "./notes.ts";

const op = "run.feedback";
const most = 500;
/** Maximum rated runs examined per page, so that searching for a rare label stays bounded. */
const mostSeen = 1_000;

export interface FeedbackSource {
  readonly now: number;
  /** Id of the API key. */
  readonly key?: string | undefined;
}

/** Stores one feedback per API key, person and place; a new one replaces it. */
export async function giveFeedback(
  journal: Journal,
  row: RunRow,
  { given, source }: { given: unknown; source: FeedbackSource },
): Promise<Feedback> {
  if (row.request.shadow !== undefined) throw invalid(`${row.run} is a shadow: nobody has seen its answer`);
  const parsed = GivenFeedback.safeParse(given);
  if (!parsed.success) {
    const [first] = complaintsOf(GivenFeedback, given, parsed.error);
    throw invalid(`${first?.path || "the feedback"}: ${first?.message ?? "not valid"}`);
  }
  const { seq } = parsed.data;
  if (seq !== undefined && seq > row.head) throw invalid(`seq: the run has ${row.head} events so far`);
  const { key, now } = source;
  const fresh: Feedback = {
    ...parsed.data,
    by: parsed.data.by ?? key ?? "local",
    at: now,
    ...(key === undefined ? {} : { key }),
  };
  const isSame = (other: Feedback) => other.by === fresh.by && other.key === fresh.key && other.seq === fresh.seq;
  await changeNotes(journal, row, (notes) => {
    const feedback = [...notes.feedback.filter((other) => !isSame(other)), fresh];
    if (feedback.length > most) throw new VenturiError(op, "too_large", `a run has at most ${most} feedbacks`);
    return { ...notes, feedback };
  });
  return fresh;
}

/** One page of matching runs, also filtered by notes such as feedback. */
export const listRuns = (journal: Journal, query: RunsQuery): Promise<{ runs: RunRow[]; cursor?: string }> =>
  query.feedback === undefined ? journal.list(query) : listRated(journal, query);

/** One page of runs with matching feedback. A page may be short or empty and still have a cursor. */
async function listRated(journal: Journal, query: RunsQuery): Promise<{ runs: RunRow[]; cursor?: string }> {
  const { feedback = {}, limit = 50, text, sort, oldestFirst, until } = query;
  if (text !== undefined || sort !== undefined || oldestFirst)
    throw invalid("runs selected by feedback come newest first, and cannot be searched for words at the same time");
  if (journal.keepDigest === undefined && asksDigests(query)) throw noDigests("this journal keeps no digests");
  const fits = feedbackFits(feedback);
  const runs: RunRow[] = [];
  let seen = 0;
  const after = query.cursor ?? (until === undefined ? "" : keyBefore(until));
  for await (const { key, notes } of eachNotes(journal, after)) {
    if (query.since !== undefined && key > `${keyBefore(query.since)}0`) break;
    const row = notes.feedback.some(fits) ? await journal.get(notes.run) : undefined;
    if (row !== undefined && rowFits(row, query)) runs.push(row);
    if (runs.length === limit || ++seen === mostSeen) return { runs, cursor: key };
  }
  return { runs };
}

const invalid = (message: string): VenturiError => new VenturiError(op, "invalid_input", message);
