import { resourceFromAttributes } from "@opentelemetry/resources";
import { expect } from "chai";
import fc from "fast-check";
import { Origin } from "../../src/telemetry/base/origin.ts";
import { appendBlock, type Block, chunkBlock, copyOf } from "../../src/telemetry/otlp/block.ts";
import { ProtobufWriter } from "../../src/telemetry/otlp/protobuf.ts";
import { ChunkRecorder, Rows } from "../../src/telemetry/otlp/rows.ts";
import { rowsOf } from "../../src/telemetry/otlp/span-rows.ts";
import { requestFrame, TraceRequest } from "../../src/telemetry/otlp/trace-request.ts";
import { readSpans } from "./protobuf-reader.ts";

const resource = resourceFromAttributes({ "service.name": "é漢", "process.pid": 7, list: ["a", "b"], ok: true });
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((id) => Buffer.from(id).toString("hex"));
const parent = fc.record({ traceId: hex(16), spanId: hex(8), traceFlags: fc.constantFrom(0, 1) });
// In 2001 and in 2100; from a process that just began to one up for 90 days (past 104, nanoseconds no longer fit a double).
const origin = fc.double({ min: 1e12, max: 4.1e12, noNaN: true }).map((epoch) => new Origin(epoch));
const time = fc.double({ min: 0, max: 7.8e9, noNaN: true });
const size = fc.integer({ min: 0, max: 0xffff_ffff });

const chunks = fc
  .record({
    chunks: fc.array(
      fc.tuple(fc.integer({ min: 0, max: 6 }), size, time, fc.double({ min: 0, max: 1e3, noNaN: true })),
      {
        maxLength: 200,
      },
    ),
    steps: fc.array(fc.tuple(fc.integer({ min: -1, max: 199 }), size, size, fc.boolean(), time), { maxLength: 200 }),
  })
  .map((made) => {
    const recorder = new ChunkRecorder(1_000);
    for (const [kind, bytes, start, lasted] of made.chunks) recorder.chunk(kind, bytes, start, start + lasted);
    for (const [chunk, call, bytes, sealed, start] of made.steps) {
      recorder.step(chunk, call, bytes, sealed, start, start + 1);
    }
    return recorder;
  });
const appends = fc.array(fc.tuple(size, size, time), { maxLength: 100 }).map((made) => {
  const rows = new Rows();
  for (const [events, runs, start] of made) rows.push(start, start + 0.5, events, runs);
  return rows;
});
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.tuple(parent, origin, chunks).map(([above, at, recorder]) => chunkBlock(above, at, recorder)),
  fc.tuple(parent, origin, appends).map(([above, at, recorder]) => appendBlock(above, at, recorder)),
);

/** In memory that other requests have been written to before. */
const used = new ProtobufWriter(8);
const encoded = (blocks: readonly Block[]): Uint8Array => {
  const request = new TraceRequest(requestFrame(resource, undefined), used);
  for (const block of blocks) request.addBlock(block);
  return request.end().bytes;
};

/** The next block of the same stream. */
function spoil(rows: Rows | undefined): void {
  if (rows === undefined) return;
  const { count } = rows;
  rows.count = 0;
  for (let row = 0; row < count; row++) rows.push(1, 2, 3, 4, 5, 6);
}

describe("spans from recorder to OTLP", () => {
  it("say on the wire what they say as rows, whatever is in the recorder", () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 3 }), (blocks) => {
        const sent = readSpans(encoded(blocks));
        const meant = blocks.flatMap((each) =>
          Array.from(rowsOf(each), (row) => ({
            traceId: each.parent.traceId,
            spanId: row.spanId,
            parentSpanId: row.parentSpanId,
            name: row.name,
            kind: 1,
            start: BigInt(each.origin.text(row.start)),
            end: BigInt(each.origin.text(Math.max(row.start, row.end))),
            attributes: row.attributes,
            traceState: "",
            dropped: [0n, 0n, 0n],
            events: [],
            links: [],
            status: { code: 0, message: "" },
            flags: 0x100 | each.parent.traceFlags,
            resource: { "service.name": "é漢", "process.pid": 7, list: ["a", "b"], ok: true },
          })),
        );
        expect(sent).to.deep.equal(meant);
      }),
      { numRuns: 60 },
    );
  });

  it("are kept as they were, however many others are kept after them and whatever becomes of their rows", () => {
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 60 }), (blocks) => {
        const meant = blocks.map((each) => [...rowsOf(each)]);
        const kept = blocks.map(copyOf);
        for (const { chunks: rows, steps, appends: stored } of blocks)
          for (const each of [rows, steps, stored]) spoil(each);
        expect(kept.map((each) => [...rowsOf(each)])).to.deep.equal(meant);
      }),
      { numRuns: 20 },
    );
  });

  it("have ids of their own, none of them zero", () => {
    fc.assert(
      fc.property(block, (each) => {
        const ids = Array.from(rowsOf(each), (row) => row.spanId);
        expect(new Set(ids).size).to.equal(ids.length);
        expect(ids).to.not.include("0000000000000000");
      }),
      { numRuns: 30 },
    );
  });
});
