/** Facts only spans have: how long commits took, who blocked the process, which reader was slow. */
export interface SpanFacts {
  /** Total time of slow commits, ms. */
  readonly journalMs: number;
  /** What blocked the event loop longest, where it is known. */
  readonly culprit: string;
  /** Channel of the reader that took longest to take what it was given. */
  readonly slowest: string;
}

const append = "venturi.journal.append";
const deliver = "venturi.deliver ";
/** Faster commits are normal, ms. */
const slowCommit = 250;

interface Attribute {
  readonly key?: unknown;
  readonly value?: Readonly<Record<string, unknown>>;
}

interface Span {
  readonly name?: unknown;
  readonly startTimeUnixNano?: unknown;
  readonly endTimeUnixNano?: unknown;
  readonly attributes?: readonly Attribute[];
  readonly events?: readonly { readonly name?: unknown; readonly attributes?: readonly Attribute[] }[];
}

/** Reads a run's spans from OTLP JSON; empty when there are none. */
export function spanFacts(document: unknown): SpanFacts {
  const spans = spansIn(document);
  return { journalMs: slowCommits(spans), culprit: culpritIn(spans), slowest: slowestIn(spans) };
}

/** Commits that overlap count once. */
function slowCommits(spans: readonly Span[]): number {
  const commits = spans
    .filter(({ name }) => name === append)
    .map(({ startTimeUnixNano: start, endTimeUnixNano: end }) => ({ start: millis(start), end: millis(end) }))
    .filter(({ start, end }) => end - start >= slowCommit)
    .sort((left, right) => left.start - right.start);
  let total = 0;
  let covered = 0;
  for (const { start, end } of commits) {
    total += Math.max(0, end - Math.max(start, covered));
    covered = Math.max(covered, end);
  }
  return total;
}

function culpritIn(spans: readonly Span[]): string {
  const stalls = spans.flatMap(({ events = [] }) =>
    events
      .filter(({ name }) => name === "venturi.stalled")
      .map(({ attributes }) => ({
        ms: Number(attributeIn(attributes, "venturi.stalled.ms") ?? 0),
        culprit: attributeIn(attributes, "venturi.stalled.culprit"),
      })),
  );
  const [longest] = stalls.sort((left, right) => right.ms - left.ms);
  return String(longest?.culprit ?? "");
}

function slowestIn(spans: readonly Span[]): string {
  const readers = spans
    .flatMap(({ name, attributes }) =>
      typeof name === "string" && name.startsWith(deliver)
        ? [
            {
              channel: name.slice(deliver.length),
              ms: Number(attributeIn(attributes, "venturi.deliver.stalled_ms") ?? 0),
            },
          ]
        : [],
    )
    .filter(({ ms }) => ms > 0)
    .sort((left, right) => right.ms - left.ms);
  return readers[0]?.channel ?? "";
}

function attributeIn(attributes: readonly Attribute[] | undefined, key: string): unknown {
  const found = attributes?.find((attribute) => attribute.key === key)?.value ?? {};
  return Object.values(found)[0];
}

const millis = (nanos: unknown): number => Number(BigInt(String(nanos ?? 0)) / 1_000n) / 1_000;

function spansIn(document: unknown): Span[] {
  const { resourceSpans } = (document ?? {}) as {
    resourceSpans?: readonly { scopeSpans?: readonly { spans?: Span[] }[] }[];
  }; // OTLP JSON, or anything else
  return (resourceSpans ?? []).flatMap(({ scopeSpans }) => (scopeSpans ?? []).flatMap(({ spans }) => spans ?? []));
}
