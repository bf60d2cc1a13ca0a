import { parseTraceParent } from "@opentelemetry/core";
import { expect } from "chai";
import { traceHeadersOf, traceparentOf } from "../../src/core/values/trace-context.ts";
import { parseTraceparent } from "../../src/telemetry/base/traceparent.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const span = "b7ad6b7169203331";
const headers = [
  `00-${trace}-${span}-01`,
  `00-${trace}-${span}-ff`,
  `01-${trace}-${span}-01`,
  `01-${trace}-${span}-01-more`,
  `cc-${trace}-${span}-00-a-b`,
  `00-${trace}-${span}-01-more`,
  `ff-${trace}-${span}-01`,
  `00-${"0".repeat(32)}-${span}-01`,
  `00-${trace}-${"0".repeat(16)}-01`,
  `00-${trace.toUpperCase()}-${span}-01`,
  `00-${trace}-${span}`,
  `00-${trace}-${span}-1`,
  `0-${trace}-${span}-01`,
  "",
  "nonsense",
];

describe("a traceparent header", () => {
  for (const header of headers) {
    it(`${header || "(empty)"} means the same to the server, the telemetry and OpenTelemetry itself`, () => {
      const theirs = parseTraceParent(header);
      expect(traceparentOf(header) !== undefined).to.equal(theirs !== null);
      const ours = parseTraceparent(header);
      expect([ours?.traceId, ours?.spanId]).to.deep.equal([theirs?.traceId, theirs?.spanId]);
    });
  }
});

describe("trace headers of a request", () => {
  const traceparent = `00-${trace}-${span}-01`;

  it("are those that are valid, tracestate only with its parent", () => {
    const all = { traceparent, tracestate: "a=1", baggage: "b=2" };
    expect(traceHeadersOf(all)).to.deep.equal(all);
    expect(traceHeadersOf({ ...all, tracestate: ["a=1", "c=3"] })).to.include({ tracestate: "a=1,c=3" });
    expect(traceHeadersOf({ ...all, traceparent: "nonsense" })).to.deep.equal({ baggage: "b=2" });
    expect(traceHeadersOf({ traceparent, tracestate: "x".repeat(513), baggage: "x".repeat(8_193) })).to.deep.equal({
      traceparent,
    });
    expect(traceHeadersOf({ baggage: "line\r\nbreak" })).to.deep.equal({});
  });
});
