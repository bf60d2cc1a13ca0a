import {
  type AnyValue,
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { type InstrumentationScope, TraceState } from "@opentelemetry/core";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  InMemorySpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanLimits,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { expect } from "chai";
import fc from "fast-check";
import { ProtobufWriter } from "../../src/telemetry/otlp/protobuf.ts";
import { requestFrame, TraceRequest } from "../../src/telemetry/otlp/trace-request.ts";
import { LeanTracer } from "../../src/telemetry/sdk/tracer.ts";
import { readRequest } from "./protobuf-reader.ts";

const text = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.constantFrom("", "\ud800", "é".repeat(64), "a".repeat(63), "a".repeat(64), "a".repeat(65), "x".repeat(20_000)),
);
const numeric = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(
    0,
    -0,
    -1,
    127,
    128,
    2 ** 31,
    2 ** 32,
    -(2 ** 32),
    2 ** 53,
    -(2 ** 53),
    2 ** 62,
    2 ** 63,
    -(2 ** 63),
    1e300,
  ),
);
const value: fc.Arbitrary<AnyValue> = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    text,
    numeric,
    fc.boolean(),
    fc.uint8Array({ maxLength: 40 }),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(text, tie("any"), { maxKeys: 4 }),
    fc.constantFrom(null, undefined),
  ),
})).any as fc.Arbitrary<AnyValue>;
const attributes = fc.dictionary(text, value, { maxKeys: 12 }) as fc.Arbitrary<Attributes>;
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((id) => Buffer.from(id).toString("hex"));
const context: fc.Arbitrary<SpanContext> = fc.record({
  traceId: hex(16).filter((id) => /[^0]/.test(id)),
  spanId: hex(8).filter((id) => /[^0]/.test(id)),
  traceFlags: fc.constantFrom(TraceFlags.NONE, TraceFlags.SAMPLED),
  isRemote: fc.boolean(),
  traceState: fc.constantFrom(new TraceState(), new TraceState("vendor=1,other=2")),
});
const time = fc.tuple(fc.integer({ min: 0, max: 8e9 }), fc.integer({ min: 0, max: 999_999_999 }));

const made = fc.record({
  scope: fc.constantFrom("one", "two"),
  name: text,
  kind: fc.constantFrom(SpanKind.INTERNAL, SpanKind.SERVER, SpanKind.CLIENT, SpanKind.PRODUCER, SpanKind.CONSUMER),
  parent: fc.option(context, { nil: undefined }),
  start: time,
  end: time,
  attributes,
  later: attributes,
  links: fc.array(fc.record({ context, attributes }), { maxLength: 4 }),
  events: fc.array(fc.tuple(text, attributes, time), { maxLength: 6 }),
  thrown: fc.constantFrom(undefined, "plain", Object.assign(new TypeError("no"), { stack: "at x", code: "E_NO" })),
  status: fc.record({
    code: fc.constantFrom(SpanStatusCode.UNSET, SpanStatusCode.OK, SpanStatusCode.ERROR),
    message: text,
  }),
});

type Made = typeof made extends fc.Arbitrary<infer T> ? T : never;
const limits = { eventCountLimit: 4, linkCountLimit: 128 };
const described = resourceFromAttributes({ "service.name": "é" }, { schemaUrl: "https://example.test/schema" });

const one = { name: "one", version: "1.2.3", schemaUrl: "" };

/** In memory that other requests have been written to before. */
const used = new ProtobufWriter(8);

function encoded(spans: readonly ReadableSpan[], resource: Resource, own?: InstrumentationScope): Uint8Array {
  const frame = requestFrame(resource, undefined);
  const request = new TraceRequest(own === undefined ? frame : { ...frame, scope: own }, used);
  for (const span of spans) request.addSpan(span);
  return request.end().bytes;
}

describe("spans on the wire", () => {
  it("of the SDK say what its own serializer makes them say", () => {
    fc.assert(
      fc.property(fc.array(made, { minLength: 1, maxLength: 5 }), attributes, (all, facts) => {
        const resource = resourceFromAttributes(facts, { schemaUrl: "https://example.test/schema" });
        const spans = sdkSpans(all, resource, { ...limits, linkCountLimit: 3, attributeCountLimit: 10 });
        const usual = ProtobufTraceSerializer.serializeRequest(spans);
        const sent = encoded(spans, resource);
        expect(contentOf(sent)).to.deep.equal(contentOf(usual));
      }),
      { numRuns: 120 },
    );
  });

  it("are the same whether the SDK made them or we did, whatever a tool does to them", () => {
    fc.assert(
      fc.property(fc.array(made, { minLength: 1, maxLength: 5 }), fc.integer({ min: 0, max: 300 }), (all, more) => {
        const many = Object.fromEntries(Array.from({ length: more }, (_, index) => [`more.${index}`, index]));
        const crowded = all.map((one) => ({ ...one, scope: "one" as const, later: { ...one.later, ...many } }));
        const usual = withoutIds(ProtobufTraceSerializer.serializeRequest(sdkSpans(crowded, described, limits)));
        const lean = withoutIds(encoded(leanSpans(crowded), described, one));
        expect(lean).to.deep.equal(usual);
      }),
      { numRuns: 120 },
    );
  });

  it("drop a value that is no attribute, and only that", () => {
    const [span] = leanSpans([], (one) => {
      one.setAttributes({ good: 1, bad: (() => 1) as never, worse: 1n as never, circle: circle() as never, "": "x" });
      one.setAttribute("after", true);
    });
    expect(span?.attributes).to.deep.equal({ good: 1, after: true });
  });

  it("cost only themselves when a value throws while it is read", () => {
    const bad = (span: Span) => {
      span.setAttribute("deep", { inner: "fine at first" } as never);
      const { deep } = (span as unknown as ReadableSpan).attributes;
      Object.defineProperty(deep, "inner", {
        enumerable: true,
        get: () => {
          throw new Error("no");
        },
      });
    };
    const before = leanSpans([], (span) => span.setAttribute("place", 1));
    const after = leanSpans([], (span) => span.setAttribute("place", 2));
    for (const own of [undefined, one]) {
      const frame = requestFrame(described, undefined);
      const request = new TraceRequest(own === undefined ? frame : { ...frame, scope: own }, used);
      for (const span of [...before, ...leanSpans([], bad), ...after]) request.addSpan(span);
      const { bytes, count } = request.end();
      const spans = contentOf(bytes).flatMap(({ scopes }) => scopes.flatMap((scope) => scope.spans));
      expect(spans.map(({ attributes }) => attributes.place)).to.deep.equal([1, 2]);
      expect([count, request.failed]).to.deep.equal([2, 1]);
    }
  });

  it("take nothing after their end", () => {
    const [span] = leanSpans([], (one) => {
      one.end();
      one.setAttribute("late", 1).addEvent("late").updateName("late").setStatus({ code: SpanStatusCode.ERROR }).end();
      one.addLink({ context: one.spanContext() });
    });
    expect(span).to.include({ name: "", ended: true });
    expect([span?.attributes, span?.events, span?.links, span?.status]).to.deep.equal([{}, [], [], { code: 0 }]);
  });
});

function circle(): object {
  const round: Record<string, unknown> = {};
  round.itself = round;
  return round;
}

/** A request without any spans says nothing. */
const contentOf = (bytes: Uint8Array | undefined) =>
  readRequest(bytes ?? new Uint8Array()).filter(({ scopes }) => scopes.length > 0);

/** Ids are random. */
function withoutIds(bytes: Uint8Array | undefined) {
  return contentOf(bytes).map(({ scopes, ...resource }) => ({
    ...resource,
    scopes: scopes.map(({ spans, ...scope }) => ({
      ...scope,
      spans: spans.map(({ spanId, traceId, ...span }) => ({
        ...span,
        traceId: span.parentSpanId === "" ? "" : traceId,
        ids: [traceId.length, spanId.length],
      })),
    })),
  }));
}

/** Real spans, with limits small enough that some of their parts are dropped. */
function sdkSpans(all: readonly Made[], resource: Resource, spanLimits: SpanLimits): ReadableSpan[] {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    resource,
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    spanLimits,
  });
  for (const one of all) {
    const tracer = provider.getTracer(one.scope, one.scope === "one" ? "1.2.3" : undefined, {
      schemaUrl: one.scope === "one" ? "" : "https://example.test/other",
    });
    const { parent } = one;
    drive(
      one,
      tracer.startSpan(
        one.name,
        optionsOf(one),
        parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
      ),
    );
  }
  return exporter.getFinishedSpans();
}

function leanSpans(all: readonly Made[], also?: (span: Span) => void): ReadableSpan[] {
  const ended: ReadableSpan[] = [];
  const tracer = new LeanTracer({
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    resource: described,
    scope: one,
    eventLimit: limits.eventCountLimit,
    ended: (span) => ended.push(span),
  });
  for (const one of all) drive(one, tracer.startSpan(one.name, optionsOf(one), one.parent));
  if (also !== undefined) {
    const span = tracer.startSpan("", {}, undefined);
    also(span);
    span.end();
  }
  return ended;
}

const optionsOf = (one: Made) => ({
  kind: one.kind,
  startTime: one.start,
  attributes: one.attributes,
  links: one.links,
});

function drive(one: Made, span: Span): void {
  span.setAttributes(one.later);
  for (const [name, facts, at] of one.events) span.addEvent(name, facts, at);
  if (one.thrown !== undefined) span.recordException(one.thrown, one.start);
  span.setStatus(one.status);
  span.end(one.end);
}
