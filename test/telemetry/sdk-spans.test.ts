import {
  type AnyValue,
  type Attributes,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { TraceState } from "@opentelemetry/core";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect } from "chai";
import fc from "fast-check";
import { TraceRequest } from "../../src/telemetry/export/trace-request.ts";
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
  status: fc.record({
    code: fc.constantFrom(SpanStatusCode.UNSET, SpanStatusCode.OK, SpanStatusCode.ERROR),
    message: text,
  }),
});

describe("spans of the SDK on the wire", () => {
  it("say what the SDK's own serializer makes them say", () => {
    fc.assert(
      fc.property(fc.array(made, { minLength: 1, maxLength: 5 }), attributes, (all, described) => {
        const spans = spansOf(all, described);
        const [first] = spans;
        if (first === undefined) throw new Error("no span was made");
        const sent = readRequest(new TraceRequest(first.resource, undefined).encode({ spans, blocks: [] }));
        const usual = ProtobufTraceSerializer.serializeRequest(spans);
        expect(sent).to.deep.equal(readRequest(usual ?? new Uint8Array()));
      }),
      { numRuns: 120 },
    );
  });
});

/** Real spans, with limits small enough that some of their parts are dropped. */
function spansOf(
  all: readonly (typeof made extends fc.Arbitrary<infer T> ? T : never)[],
  described: Attributes,
): ReadableSpan[] {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    resource: resourceFromAttributes(described, { schemaUrl: "https://example.test/schema" }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    spanLimits: { eventCountLimit: 4, linkCountLimit: 3, attributeCountLimit: 10, attributePerEventCountLimit: 5 },
  });
  for (const one of all) {
    const tracer = provider.getTracer(one.scope, one.scope === "one" ? "1.2.3" : undefined, {
      schemaUrl: one.scope === "one" ? "" : "https://example.test/other",
    });
    const above = one.parent && { ...one.parent, traceFlags: TraceFlags.SAMPLED };
    const span = tracer.startSpan(
      one.name,
      { kind: one.kind, startTime: one.start, attributes: one.attributes, links: one.links },
      above === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, above),
    );
    span.setAttributes(one.later);
    for (const [name, facts, at] of one.events) span.addEvent(name, facts, at);
    span.setStatus(one.status);
    span.end(one.end);
  }
  return exporter.getFinishedSpans();
}
