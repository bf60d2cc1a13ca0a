/** A span of the run's trace, available while the run is recent. Times in ms since the epoch. */
export interface Span {
  readonly id: string;
  readonly parent: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly failed: boolean;
  readonly attributes: readonly (readonly [string, string])[];
  depth: number;
}

interface Otlp {
  readonly resourceSpans?: readonly {
    readonly scopeSpans?: readonly { readonly spans?: readonly OtlpSpan[] }[];
  }[];
}

interface OtlpSpan {
  readonly spanId?: string;
  readonly parentSpanId?: string;
  readonly name?: string;
  readonly startTimeUnixNano?: string | number;
  readonly endTimeUnixNano?: string | number;
  readonly status?: { readonly code?: number | string };
  readonly attributes?: readonly { readonly key: string; readonly value?: Readonly<Record<string, unknown>> }[];
}

/** Spans of OTLP JSON as a tree in display order: parents before children, siblings by start. */
export function spansOf(trace: unknown): Span[] {
  const given = ((trace as Otlp).resourceSpans ?? []).flatMap(({ scopeSpans = [] }) =>
    scopeSpans.flatMap(({ spans = [] }) => spans),
  );
  const all = given.map(toSpan).sort((left, right) => left.from - right.from || right.to - left.to);
  const known = new Set(all.map(({ id }) => id));
  const children = new Map<string, Span[]>();
  for (const span of all) {
    const parent = known.has(span.parent) && span.parent !== span.id ? span.parent : "";
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [span]);
    else siblings.push(span);
  }
  const ordered: Span[] = [];
  // A stack instead of recursion: a trace may have any depth. Children are removed when visited, so that a cycle ends.
  const waiting = (children.get("") ?? []).map((span) => ({ span, depth: 0 })).reverse();
  children.delete("");
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { span, depth } = next;
    span.depth = depth;
    ordered.push(span);
    const below = children.get(span.id) ?? [];
    children.delete(span.id);
    for (const child of below.reverse()) waiting.push({ span: child, depth: depth + 1 });
  }
  return ordered;
}

function toSpan(span: OtlpSpan): Span {
  const from = millis(span.startTimeUnixNano);
  return {
    id: span.spanId ?? "",
    parent: span.parentSpanId ?? "",
    name: span.name ?? "",
    from,
    to: Math.max(from, millis(span.endTimeUnixNano)),
    failed: span.status?.code === 2 || span.status?.code === "STATUS_CODE_ERROR",
    attributes: (span.attributes ?? []).map(({ key, value }) => [key, textOf(value)] as const),
    depth: 0,
  };
}

/** Nanoseconds exceed a number's precision; microseconds are enough. */
const millis = (nanos: string | number | undefined): number => {
  const text = String(nanos ?? 0);
  return text.length <= 6 ? 0 : Number(`${text.slice(0, -6)}.${text.slice(-6)}`);
};

function textOf(value: Readonly<Record<string, unknown>> | undefined): string {
  const [given] = Object.values(value ?? {});
  return typeof given === "object" ? JSON.stringify(given) : String(given ?? "");
}
