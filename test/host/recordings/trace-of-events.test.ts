import { expect } from "chai";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { traceOfEvents } from "../../../src/host/recordings/trace-of-events.ts";
import { ScriptedModel, say } from "../../../src/testing/model.ts";
import { Bench, run, tool } from "../../agent/harness.ts";

interface SpanJson {
  name: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status?: { code: number };
}

function spansOf(bench: { readonly events: readonly RunEvent[] }): SpanJson[] {
  const document = traceOfEvents(bench.events) as { resourceSpans: { scopeSpans: { spans: SpanJson[] }[] }[] };
  return document.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

describe("a trace drawn from a run's events", () => {
  it("has the run, its rounds, generations and tools, each under its parent and within its time", async () => {
    const model = new ScriptedModel([["a", say.call(0, "look", {})], ["b"]]);
    const spans = spansOf(await run({ model, tools: [tool("look", () => "seen")] }));
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    expect(spans.map((span) => [span.name, byId.get(span.parentSpanId ?? "")?.name])).to.deep.equal([
      ["invoke_agent tester", undefined],
      ["venturi.round", "invoke_agent tester"],
      ["chat p0/m", "venturi.round"],
      ["execute_tool look", "venturi.round"],
      ["venturi.round", "invoke_agent tester"],
      ["chat p0/m", "venturi.round"],
    ]);
    for (const span of spans) {
      const parent = byId.get(span.parentSpanId ?? "") ?? span;
      expect(span.startTimeUnixNano >= parent.startTimeUnixNano).to.equal(true);
      expect(span.endTimeUnixNano <= parent.endTimeUnixNano).to.equal(true);
    }
  });

  it("ends no span before its start though the clock was set back in the middle", async () => {
    const bench = await run({ model: new ScriptedModel([["a", "b", "c"]]) });
    for (const event of bench.events.slice(3)) event.at -= 3_600_000;
    for (const span of spansOf(bench)) expect(span.endTimeUnixNano >= span.startTimeUnixNano).to.equal(true);
  });

  it("ends what a cut run left open, and marks what failed", async () => {
    const failed = spansOf(await run({ model: new ScriptedModel([["a", say.fail("llm_error")]]) }));
    expect(failed.filter((span) => span.status?.code === 2).map((span) => span.name)).to.deep.equal([
      "invoke_agent tester",
      "chat p0/m",
    ]);
    const bench = new Bench({ model: new ScriptedModel([]) });
    bench.log.write({ type: "run.started", agent: "tester", input: { text: "x" } });
    expect(spansOf(bench)).to.have.length(1);
  });

  it("marks an attempt that failed, that a crash cut or that was retracted, and a tool that failed", () => {
    const bodies: object[] = [
      { type: "run.started", agent: "a", input: {} },
      { type: "round.started", round: 1, model: "failed", attempt: 1 },
      { type: "generation.failed", round: 1, model: "failed", error: { code: "llm_error" }, retryMs: 1 },
      { type: "round.started", round: 1, model: "cut", attempt: 2 },
      { type: "run.resumed", epoch: 2 },
      { type: "round.started", round: 1, model: "retracted", attempt: 3 },
      { type: "round.retracted", round: 1, reason: "cut" },
      { type: "round.started", round: 1, model: "fine", attempt: 4 },
      ...["bad", "good", "open"].map((call) => ({ type: "tool.started", round: 1, call, name: call, attempt: 1 })),
      { type: "tool.finished", round: 1, call: "bad", name: "bad", ok: false, ms: 1 },
      { type: "tool.finished", round: 1, call: "good", name: "good", ok: true, ms: 1 },
      { type: "generation.finished", round: 1, finish: "tool_calls" },
    ];
    const spans = spansOf({ events: bodies.map((body, at) => ({ ...body, run: "r", seq: at + 1, at }) as RunEvent) });
    expect(spans.map(({ name, status }) => [name.split(" ").at(-1), status?.code])).to.have.deep.members([
      ["a", undefined],
      ["venturi.round", undefined],
      ["failed", 2],
      ["cut", 2],
      ["retracted", 2],
      ["fine", undefined],
      ["bad", 2],
      ["good", undefined],
      ["open", undefined],
    ]);
    const open = spans.find(({ name }) => name.endsWith("open"));
    expect(open?.endTimeUnixNano).to.equal("13000000");
  });
});
