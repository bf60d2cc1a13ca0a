import { outcomeOf, questionsOpened } from "venturi/internal";
import { type Append, type EndOfRun, encodeEvent, isTerminal } from "venturi/plugin";

/** Separates two bodies; JSON escapes it inside one. */
const separator = "\u001e";

/** One array per column in PostgreSQL's format: run, epoch, base, head; and the bodies, joined. */
export function toColumns(batch: readonly Append[]): string[] {
  const runs: string[] = [];
  const epochs: number[] = [];
  const bases: number[] = [];
  const heads: number[] = [];
  const bodies: string[] = [];
  for (const { ownership, events } of batch) {
    const head = events.at(-1)?.seq ?? ownership.head;
    runs.push(quoted(ownership.run));
    epochs.push(ownership.epoch);
    bases.push(head - events.length);
    heads.push(head);
    bodies.push(events.map(encodeEvent).join("\n"));
  }
  return [array(runs), array(epochs), array(bases), array(heads), bodies.join(separator)];
}

/**
 * Columns for runs that stop: next state, signals seen, outcome, wake time and questions opened; undefined if all runs of the batch just
 * continue.
 */
export function toStops(batch: readonly Append[]): string[] | undefined {
  if (batch.every(isPlain)) return undefined;
  const states: string[] = [];
  const seen: number[] = [];
  const outcomes: string[] = [];
  const wakes: (number | "NULL")[] = [];
  const asks: number[] = [];
  for (const { events, state, seenSignals, wakeAfter } of batch) {
    const last = events.at(-1);
    states.push(state ?? '""');
    seen.push(seenSignals ?? 0);
    wakes.push(wakeAfter ?? "NULL");
    asks.push(questionsOpened(events));
    outcomes.push(last !== undefined && isTerminal(last) ? outcomeOf(last) : "NULL");
  }
  return [array(states), array(seen), array(outcomes), array(wakes), array(asks)];
}

const isPlain = ({ events, state, billed }: Append): boolean =>
  state === undefined && billed === undefined && questionsOpened(events) === 0;

/** Usage and cost of the batch's events, as JSON. */
export function toBills(batch: readonly Append[], shard: number): string {
  const rows = batch.flatMap(({ billed }, index) => {
    if (billed === undefined) return [];
    const usage = billed.usage.map((entry) => ({ ...entry, shard }));
    return [{ place: index + 1, item: { ...billed, usage } }];
  });
  return withoutNul(JSON.stringify(rows));
}

/** PostgreSQL's JSON does not allow NUL. */
const withoutNul = (json: string): string => json.replaceAll("\\u0000", "");

/** Digests of the runs that end in this batch, as JSON. */
export function toDigests(batch: readonly Append[], search: "text" | "none"): string {
  const rows = batch.flatMap(({ end }, index) =>
    end === undefined ? [] : [{ place: index + 1, ...toDigest(end, search) }],
  );
  return JSON.stringify(rows);
}

export const toDigest = ({ digest, text }: EndOfRun, search: "text" | "none"): Record<string, unknown> => ({
  ms: digest.ms,
  code: digest.code ?? null,
  cost: digest.cost ?? null,
  tools: digest.tools,
  models: digest.models,
  digest,
  text: search === "text" ? text : null,
});

const array = (elements: readonly unknown[]): string => `{${elements.join(",")}}`;
const quoted = (text: string): string => `"${text.replaceAll(/[\\"]/g, "\\$&")}"`;
