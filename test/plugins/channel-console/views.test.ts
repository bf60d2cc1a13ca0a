import { expect } from "chai";
import fc from "fast-check";
import { hexLines } from "../../../plugins/channel-console/web/fold/hex.ts";
import { median, mediansOf } from "../../../plugins/channel-console/web/fold/medians.ts";
import { spansOf } from "../../../plugins/channel-console/web/fold/spans.ts";
import { eventsOfDeltas } from "../../../plugins/channel-console/web/fold/wire-events.ts";
import { bytesOfDelta } from "../../../plugins/channel-console/web/fold/wire-marks.ts";
import { type RunEvent, tookOf } from "../../../plugins/channel-console/web/state/api-types.ts";
import { readSearch } from "../../../plugins/channel-console/web/text/search.ts";

describe("the console's views", () => {
  it("filters are taken out of what is written into the search box", () => {
    const read = readSearch('lisbon tool:calculator trams metadata.customer:"Ada L." key:ops http://x.y');
    expect(read.text).to.equal("lisbon trams http://x.y");
    expect(read.filters).to.deep.equal({ tool: "calculator", "metadata.customer": "Ada L.", key: "ops" });
    expect(readSearch("agent: tool: x").text).to.equal("agent: tool: x");
  });

  it("a run took as long as its digest says, wherever it is listed", () => {
    const row = { run: "run_a", status: "finished", createdAt: 1_000, updatedAt: 1_890 } as const;
    expect(tookOf({ ...row, digest: { ms: 882 } })).to.equal(882);
    expect(tookOf(row)).to.equal(890);
  });

  it("each piece of reasoning leads to its event; an empty one before them leads nowhere", () => {
    const pieces = ["", "A", " question", ""].map((text, index) => ({
      deltas: [{ type: "reasoning", text, part: 0, ...(index === 3 ? { signature: "s" } : {}) }],
    }));
    const events = ["A", " question", ""].map((text, index) => ({ type: "reasoning.delta", text, seq: 4 + index }));
    const found = eventsOfDeltas(pieces, events as unknown as RunEvent[]); // Only what the mapping reads.
    expect([...found]).to.deep.equal([
      ["1.0", 4],
      ["2.0", 5],
      ["3.0", 6],
    ]);
  });

  it("spans become a tree in reading order, whatever their order; circles and lost parents end nothing", () => {
    const span = (spanId: string, parentSpanId: string, start: number) => ({
      spanId,
      parentSpanId,
      name: spanId,
      startTimeUnixNano: `17940000000${start}000000`,
      endTimeUnixNano: `17940000000${start}500123`,
      attributes: [{ key: "k", value: { intValue: "3" } }],
    });
    const spans = [
      span("b", "a", 12),
      span("c", "b", 13),
      span("a", "", 11),
      span("lost", "gone", 14),
      span("d", "a", 15),
    ];
    const tree = spansOf({
      resourceSpans: [{ scopeSpans: [{ spans: [...spans, span("x", "y", 16), span("y", "x", 17)] }] }],
    });
    expect(tree.map(({ id, depth }) => [id, depth])).to.deep.equal([
      ["a", 0],
      ["b", 1],
      ["c", 2],
      ["d", 1],
      ["lost", 0],
    ]);
    expect(tree[0]?.to ?? 0).to.be.closeTo((tree[0]?.from ?? 0) + 0.5, 0.01);
    expect(tree[0]?.attributes).to.deep.equal([["k", "3"]]);
    for (const odd of [{}, { resourceSpans: null }, { resourceSpans: [{}] }]) {
      expect(spansOf({ ...odd, resourceSpans: odd.resourceSpans ?? [] })).to.deep.equal([]);
    }
  });

  it("bytes are written sixteen a line, with their places", () => {
    const bytes = Uint8Array.from({ length: 18 }, (_, at) => (at === 0 ? 0x00 : 0x40 + at));
    const [first, second] = hexLines(bytes, 16);
    expect(first).to.include({ place: "000010", text: ".ABCDEFGHIJKLMNO" });
    expect(first?.hex).to.match(/^00 41 42 /);
    expect(second?.place).to.equal("000020");
    expect(second?.hex.trimEnd()).to.equal("50 51");
  });

  it("a delta's text is found in the frame it came from, however JSON writes it", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "binary" }), (text) => {
        const frame = `data: {"choices":[{"delta":{"content":${JSON.stringify(text)}}}]}`;
        const { from, to, whole } = bytesOfDelta(frame, { type: "text", text });
        expect(whole).to.equal(false);
        expect([JSON.stringify(text).slice(1, -1), text]).to.include(frame.slice(from, to));
      }),
    );
    const escaped = 'data: {"text":"caf\\u00e9"}';
    const mark = bytesOfDelta(escaped, { type: "text", text: "café" });
    expect(escaped.slice(mark.from, mark.to)).to.equal("caf\\u00e9");
    expect(bytesOfDelta("data: [DONE]", { type: "done", finish: "stop" }).whole).to.equal(true);
    expect(bytesOfDelta("x", undefined).whole).to.equal(true);
  });

  it("medians are of what is known", () => {
    expect([median([]), median([undefined]), median([3]), median([4, 1, undefined, 2])]).to.deep.equal([
      undefined,
      undefined,
      3,
      2,
    ]);
    const usual = mediansOf([{ ms: 10 }, { ms: 30, cost: 2 }, { ms: 20, usage: { outputTokens: 7 } }]);
    expect(usual).to.include({ count: 3, ms: 20, cost: 2, outputTokens: 7, inputTokens: undefined });
  });
});
