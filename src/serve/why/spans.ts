/** Facts only spans have: how long commits took. */
export interface SpanFacts {
  /** Total time of slow commits, ms. */
  readonly journalMs: number;
}

const append = "venturi.journal.append";
/** Faster commits are normal, ms. */
const slowCommit = 250;

interface Span {
  readonly name?: unknown;
  readonly startTimeUnixNano?: unknown;
  readonly endTimeUnixNano?: unknown;
}

/** Reads a run's spans from OTLP JSON; empty when there are none. */
export function spanFacts(document: unknown): SpanFacts {
  const commits = spansIn(document)
    .filter(({ name }) => name === append)
    .map(({ startTimeUnixNano: start, endTimeUnixNano: end }) => ({ start: millis(start), end: millis(end) }))
    .filter(({ start, end }) => end - start >= slowCommit)
    .sort((left, right) => left.start - right.start);
  let journalMs = 0;
  let covered = 0;
  for (const { start, end } of commits) {
    journalMs += Math.max(0, end - Math.max(start, covered));
    covered = Math.max(covered, end);
  }
  return { journalMs };
}

const millis = (nanos: unknown): number => Number(BigInt(String(nanos ?? 0)) / 1_000n) / 1_000;

function spansIn(document: unknown): Span[] {
  const { resourceSpans } = (document ?? {}) as {
    resourceSpans?: readonly { scopeSpans?: readonly { spans?: Span[] }[] }[];
  }; // OTLP JSON, or anything else
  return (resourceSpans ?? []).flatMap(({ scopeSpans }) => (scopeSpans ?? []).flatMap(({ spans }) => spans ?? []));
}
