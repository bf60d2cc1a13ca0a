import type { Attributes, AttributeValue, Span } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { attributes as names, schemaUrl, scope } from "../base/names.ts";
import { type Block, copyOf } from "../otlp/block.ts";
import { rowsOf } from "../otlp/span-rows.ts";

interface Entry {
  readonly parent: string | undefined;
  readonly spans: ReadableSpan[];
  readonly blocks: Block[];
  size: number;
  /** Number of block spans that did not fit. */
  leftOut: number;
}

/** Limit for chunk and append spans. Other spans, including the root, end after those and are always kept. */
const spansPerRun = 20_000;
const spansInAll = 500_000;

/** Spans of the most recent runs, in memory, so that traces can be viewed without installing anything. */
export class Ring {
  readonly #capacity: number;
  readonly #resource: Resource;
  readonly #version: string | undefined;
  readonly #entries = new Map<string, Entry>();
  #size = 0;

  constructor(capacity: number, resource: Resource, version?: string) {
    this.#version = version;
    this.#capacity = capacity;
    this.#resource = resource;
  }

  /** `parent`: the run that called this one as a tool. */
  open(run: string, parent: string | undefined): void {
    if (this.#capacity === 0 || this.#entries.has(run)) return;
    this.#entries.set(run, { parent, spans: [], blocks: [], size: 0, leftOut: 0 });
    this.#evict();
  }

  has(run: string): boolean {
    return this.#entries.has(run);
  }

  span(run: string, span: Span): void {
    const entry = this.#entries.get(run);
    if (entry === undefined || !isReadable(span)) return;
    entry.spans.push(span);
    this.#grow(entry, 1);
  }

  /** Adds a span of a block. */
  rowSpan(run: string, span: Span): void {
    const entry = this.#entries.get(run);
    if (entry !== undefined && entry.size >= spansPerRun) entry.leftOut++;
    else this.span(run, span);
  }

  block(run: string, block: Block): void {
    const entry = this.#entries.get(run);
    if (entry === undefined) return;
    if (entry.size + block.size > spansPerRun) {
      entry.leftOut += block.size;
      return;
    }
    entry.blocks.push(copyOf(block));
    this.#grow(entry, block.size);
  }

  /** The spans of the run and of the runs it called, as OTLP JSON. */
  trace(run: string): unknown | undefined {
    if (!this.#entries.has(run)) return undefined;
    const family = [...this.#family(run)];
    const spans = family.flatMap((entry) => [...entry.spans.map(spanJson), ...entry.blocks.flatMap(blockJson)]);
    const leftOut = family.reduce((sum, entry) => sum + entry.leftOut, 0);
    if (spans.length === 0) return undefined;
    const about = {
      name: scope,
      ...(this.#version === undefined ? {} : { version: this.#version }),
      ...(leftOut === 0 ? {} : { attributes: attributesJson({ [names.leftOut]: leftOut }) }),
    };
    return {
      resourceSpans: [
        {
          resource: { attributes: attributesJson(this.#resource.attributes) },
          scopeSpans: [{ scope: about, schemaUrl, spans }],
        },
      ],
    };
  }

  *#family(run: string): Generator<Entry> {
    const wanted = new Set([run]);
    // A called run is entered after its caller, so one pass finds all descendants.
    for (const [name, entry] of this.#entries) {
      if (!wanted.has(name) && !(entry.parent !== undefined && wanted.has(entry.parent))) continue;
      wanted.add(name);
      yield entry;
    }
  }

  #grow(entry: Entry, size: number): void {
    entry.size += size;
    this.#size += size;
    this.#evict();
  }

  forget(run: string): void {
    this.#size -= this.#entries.get(run)?.size ?? 0;
    this.#entries.delete(run);
  }

  #evict(): void {
    for (const [run, entry] of this.#entries) {
      const full = this.#entries.size > this.#capacity || (this.#size > spansInAll && this.#entries.size > 1);
      if (!full) return;
      this.#entries.delete(run);
      this.#size -= entry.size;
    }
  }
}

/** An unsampled span has nothing but ids. */
const isReadable = (span: Span): span is Span & ReadableSpan => "startTime" in span;

function spanJson(span: ReadableSpan): unknown {
  const { traceId, spanId, traceState } = span.spanContext();
  return {
    traceId,
    spanId,
    ...(traceState === undefined ? {} : { traceState: traceState.serialize() }),
    ...(span.parentSpanContext === undefined ? {} : { parentSpanId: span.parentSpanContext.spanId }),
    name: span.name,
    kind: span.kind + 1,
    startTimeUnixNano: nanos(span.startTime),
    endTimeUnixNano: nanos(span.endTime),
    attributes: attributesJson(span.attributes),
    events: span.events.map((event) => ({
      name: event.name,
      timeUnixNano: nanos(event.time),
      attributes: attributesJson(event.attributes ?? {}),
    })),
    links: span.links.map(({ context }) => ({ traceId: context.traceId, spanId: context.spanId })),
    status: { code: span.status.code, ...(span.status.message === undefined ? {} : { message: span.status.message }) },
  };
}

function blockJson(block: Block): unknown[] {
  const { traceId } = block.parent;
  return Array.from(rowsOf(block), (row) => ({
    traceId,
    spanId: row.spanId,
    parentSpanId: row.parentSpanId,
    name: row.name,
    kind: 1,
    startTimeUnixNano: block.origin.text(row.start),
    endTimeUnixNano: block.origin.text(Math.max(row.start, row.end)),
    attributes: attributesJson(row.attributes),
    status: { code: 0 },
  }));
}

const nanos = ([seconds, rest]: readonly [number, number]): string => `${seconds}${String(rest).padStart(9, "0")}`;

const attributesJson = (attributes: Attributes): unknown[] =>
  Object.entries(attributes).flatMap(([key, value]) => (value == null ? [] : [{ key, value: valueJson(value) }]));

function valueJson(value: AttributeValue | null | undefined): unknown {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: value } : { doubleValue: value };
  return { arrayValue: { values: Array.isArray(value) ? value.map(valueJson) : [] } };
}
