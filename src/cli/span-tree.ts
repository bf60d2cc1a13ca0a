/** A span as the terminal shows it. Times are milliseconds from the trace's start. */
export interface SpanNode {
  readonly id: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
  readonly children: SpanNode[];
}

interface SpanJson {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status?: { readonly code?: number | string };
}

export interface SpanTree {
  readonly traceIds: readonly string[];
  readonly duration: number;
  readonly roots: readonly SpanNode[];
}

/** The spans of an OTLP JSON document as a forest: a resumed run has one root per owner. */
export function spanTree(document: unknown): SpanTree {
  const spans = whileItRan(spansIn(document)).sort((left, right) => (begin(left) < begin(right) ? -1 : 1));
  const origin = spans[0] === undefined ? 0n : begin(spans[0]);
  const since = (nanos: bigint) => Number(nanos - origin) / 1e6;
  const nodes = new Map(
    spans.map((span) => [
      span.spanId,
      {
        id: span.spanId,
        name: span.name,
        start: since(begin(span)),
        end: since(end(span)),
        attributes: attributesOf(span),
        failed: span.status?.code === 2 || span.status?.code === "STATUS_CODE_ERROR",
        children: [] as SpanNode[],
      } satisfies SpanNode,
    ]),
  );
  const roots: SpanNode[] = [];
  for (const { spanId, parentSpanId } of spans) {
    const node = nodes.get(spanId);
    if (node !== undefined) (nodes.get(parentSpanId ?? "")?.children ?? roots).push(node);
  }
  return {
    traceIds: [...new Set(spans.map(({ traceId }) => traceId))],
    duration: Math.max(0, ...[...nodes.values()].map(({ end }) => end)),
    roots,
  };
}

const begin = (span: SpanJson): bigint => BigInt(span.startTimeUnixNano);
const end = (span: SpanJson): bigint => BigInt(span.endTimeUnixNano);
const isDelivery = ({ name }: SpanJson): boolean => name.startsWith("venturi.deliver");

/** Leaves out followers that joined after the run ended; they would stretch the time scale until the run is invisible. */
function whileItRan(spans: readonly SpanJson[]): SpanJson[] {
  const over = spans.reduce((last, span) => (isDelivery(span) || end(span) < last ? last : end(span)), 0n);
  return spans.filter((span) => !isDelivery(span) || over === 0n || begin(span) <= over);
}

function spansIn(document: unknown): SpanJson[] {
  const { resourceSpans = [] } = document as { resourceSpans?: { scopeSpans?: { spans?: SpanJson[] }[] }[] }; // OTLP JSON.
  return resourceSpans.flatMap(({ scopeSpans = [] }) => scopeSpans.flatMap(({ spans = [] }) => spans));
}

function attributesOf({ attributes = [] }: SpanJson): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: Readonly<Record<string, unknown>>): unknown {
  const [kind, inner] = Object.entries(value)[0] ?? [];
  return kind === "intValue" ? Number(inner) : inner;
}
