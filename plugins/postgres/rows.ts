import { type Append, type EndOfRun, encodeEvent, questionsOpened } from "venturi/plugin";

/** Separates two bodies; JSON escapes it inside one. */
const separator = "\u001e";

/**
 * One array per column in PostgreSQL's format: run, epoch, base, head, body (joined), next state, signals seen, outcome, wake,
 * questions opened.
 */
export function toColumns(batch: readonly Append[]): string[] {
  const runs: string[] = [];
  const epochs: number[] = [];
  const bases: number[] = [];
  const heads: number[] = [];
  const bodies: string[] = [];
  const states: string[] = [];
  const seen: number[] = [];
  const outcomes: string[] = [];
  const wakes: (number | "NULL")[] = [];
  const asks: number[] = [];
  for (const { ownership, events, state, seenSignals, wakeAfter } of batch) {
    const last = events.at(-1);
    const head = last?.seq ?? ownership.head;
    runs.push(quoted(ownership.run));
    epochs.push(ownership.epoch);
    bases.push(head - events.length);
    heads.push(head);
    bodies.push(events.map(encodeEvent).join("\n"));
    states.push(state ?? '""');
    seen.push(seenSignals ?? 0);
    wakes.push(wakeAfter ?? "NULL");
    asks.push(questionsOpened(events));
    outcomes.push(last?.type === "run.finished" ? "finished" : last?.type === "run.failed" ? "failed" : "NULL");
  }
  const body = bodies.join(separator);
  const ends = [array(states), array(seen), array(outcomes), array(wakes), array(asks)];
  return [array(runs), array(epochs), array(bases), array(heads), body, ...ends];
}

/** Digests of the runs that end in this batch, as JSON; undefined when none does. */
export function toDigests(batch: readonly Append[], search: "text" | "none"): string | undefined {
  const rows = batch.flatMap(({ end }, index) =>
    end === undefined ? [] : [{ place: index + 1, ...toDigest(end, search) }],
  );
  return rows.length === 0 ? undefined : JSON.stringify(rows);
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
