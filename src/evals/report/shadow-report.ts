import type { Journal } from "../../core/journal/journal.ts";
import { eachNotes, keyBefore } from "../../journal/notes.ts";
import type { RunSet } from "../scoring/run-set.ts";
import { ShadowNote } from "../shadow-note.ts";
import { meanOf } from "../stats/bootstrap.ts";
import { type Summary, summarize } from "../stats/compare.ts";

export interface ShadowReport {
  /** Entry of `models`, and the model used by the shadow. */
  readonly model: string;
  readonly by: string;
  readonly found: RunSet;
  readonly summary: Summary;
}

/** Compares live runs with their shadows, per pair of models. The shadow is the candidate, the live run the baseline. */
export async function shadowReports(
  journal: Journal,
  { model, since }: { readonly model?: string | undefined; readonly since: number },
): Promise<ShadowReport[]> {
  const notes: ShadowNote[] = [];
  for await (const { key, notes: found } of eachNotes(journal)) {
    if (key > `${keyBefore(since)}0`) break;
    const parsed = ShadowNote.safeParse(found.shadow);
    if (!parsed.success || (model !== undefined && parsed.data.model !== model)) continue;
    // Read now: people give feedback later than the shadow ends.
    const ratings = found.feedback.flatMap(({ score }) => score ?? []);
    const rating = ratings.length === 0 ? {} : { rating: meanOf(ratings) };
    notes.push({ ...parsed.data, live: { ...parsed.data.live, ...rating } });
  }
  const groups = Map.groupBy(notes, (note) => JSON.stringify([note.model, note.by]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [reportOf(first, group)];
  });
}

function reportOf({ model, by, at }: ShadowNote, group: readonly ShadowNote[]): ShadowReport {
  const recorded = group.map(({ live }) => live);
  const items = group.map(({ shadow }) => shadow);
  const scorers = [...new Set(items.flatMap(({ scores }) => Object.keys(scores)))];
  const found: RunSet = {
    ...{ venturi: "runset", set: `shadow of ${model}`, name: by, at, config: "", model: by },
    ...{ scorers, skipped: [], items },
  };
  return { model, by, found, summary: summarize(found, recorded, { thresholds: {}, recorded }) };
}
