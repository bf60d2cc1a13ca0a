import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Telemetry } from "../../src/core/ports/telemetry.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, tool } from "../agent/harness.ts";
import { OpenSpans } from "./open-spans.ts";

describe("at every event of a measured run with two rounds and two tools", () => {
  let spans: OpenSpans;
  let telemetry: Telemetry;
  beforeEach(async () => {
    spans = new OpenSpans();
    telemetry = await createTelemetry(defaultSettings, { log: silentLog, spanProcessors: [spans] });
  });
  afterEach(() => telemetry.close());

  const request = { agent: "tester", input: { text: "go" } };

  function bench(history: readonly RunEvent[] = [], script?: ScriptedModel): Bench {
    const work = (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise<string>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        setImmediate(() => resolve("done"));
      });
    const round = (text: string) => [
      say.reasoning("hm"),
      text,
      ...say.fragments({ name: "look", input: { at: text }, size: 6 }),
      say.call(1, "pay", { amount: text }),
      "…",
    ];
    const model = script ?? new ScriptedModel([round("one"), round("two"), ["The ", "end"]]);
    const tools = [tool("look", work), tool("pay", work, { effect: "effectful" })];
    return new Bench({
      model: telemetry.provider("p0", "openai", model),
      tools: tools.map((each) => telemetry.tool(each)),
      policy: { grace: 1_000, onUncertain: "fail" },
      history,
      around: (log) =>
        telemetry.runLog(log, { ownership: log.ownership, tenant: "default", request, signals: 0 }, history),
    });
  }

  const settled = (at: number | string) => {
    expect([...spans.open.values()], `open at ${at}`).to.deep.equal([]);
    expect(spans.orphans(), `orphans at ${at}`).to.deep.equal([]);
  };

  it("whole, it has the tree: three rounds, three generations, four executions, each accumulation in its chunk", async () => {
    await bench().run();
    settled("the end");
    const count = (name: string) => spans.named(name).length;
    expect(["venturi.round", "chat m", "execute_tool look", "execute_tool pay"].map(count)).to.deep.equal([3, 3, 2, 2]);
    const chunks = new Set(spans.named("venturi.chunk").map((span) => span.spanContext().spanId));
    const steps = spans.named("venturi.accumulate");
    expect(steps.length).to.be.greaterThan(6);
    for (const step of steps) expect(chunks.has(step.parentSpanContext?.spanId ?? "")).to.equal(true);
    expect(spans.named("execute_tool look")[0]?.attributes["venturi.tool.eager"]).to.equal(true);
    expect(spans.named("execute_tool pay")[0]?.attributes["venturi.tool.eager"]).to.equal(false);
  });

  it("a cancel, a journal that fails and a release leave no span open and none without its parent", async () => {
    const whole = (await bench().run()).events.length;
    for (let at = 1; at < whole; at++) {
      const cancelled = bench();
      cancelled.log.onEvent = (event) => event.seq === at && cancelled.signal("cancel", {});
      await cancelled.run();
      settled(at);
      const fenced = bench();
      const reason = new VenturiError("journal.append", "journal_failed", "fenced");
      fenced.log.onEvent = (event) => event.seq === at && fenced.log.controller.abort(reason);
      await fenced.run();
      settled(at);
      const released = bench();
      released.log.onEvent = (event) => event.seq === at && released.release.abort();
      await released.run();
      // The worker's part: what is released goes back to the journal.
      await telemetry.journal({ release: async () => {} } as never).release(released.log.ownership);
      settled(at);
    }
    console.log(`      ${spans.ended.length} spans ended over 3 × ${whole - 1} stopped runs, none open, none orphaned`);
  });

  it("a run that is taken up again anywhere is measured to its end, linked to where it was", async () => {
    const whole = (await bench().run()).events.length;
    for (let at = 1; at < whole; at++) {
      const first = bench();
      first.log.onEvent = (event) =>
        event.seq === at && first.log.controller.abort(new VenturiError("x.y", "journal_failed", "killed"));
      await first.run();
      const history = first.events.slice();
      const done = history.filter((event) => event.type === "generation.finished").length;
      const rest = [["one"], ["two"], ["The ", "end"]].slice(done);
      await bench(history, new ScriptedModel(rest.length === 0 ? [["end"]] : rest)).run();
      settled(at);
      const roots = spans.named("invoke_agent tester");
      const [earlier, later] = roots.slice(-2);
      expect(later?.links[0]?.context.spanId, `at ${at}`).to.equal(earlier?.spanContext().spanId);
    }
  });

  it("the root's timing attributes are the terminal event's", async () => {
    const run = await bench().run();
    const [root] = spans.named("invoke_agent tester");
    for (const [part, ms] of Object.entries(run.terminal.timing))
      expect(root?.attributes[`venturi.timing.${part}`] ?? 0, part).to.equal(ms);
  });

  it("when the provider fails at any piece, the generation's span has the code and nothing stays open", async () => {
    const pieces = ["a", ...say.fragments({ name: "look", input: { at: 1 }, size: 3 }), say.call(1, "pay", {}), "b"];
    for (let at = 0; at <= pieces.length; at++) {
      await bench([], new ScriptedModel([[...pieces.slice(0, at), say.fail("llm_error")]])).run();
      settled(at);
      expect(spans.named("chat m").at(-1)?.attributes["error.type"]).to.equal("llm_error");
      expect(spans.named("invoke_agent tester").at(-1)?.attributes["error.type"]).to.equal("llm_error");
    }
  });
});
