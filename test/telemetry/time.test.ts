import { SpanStatusCode } from "@opentelemetry/api";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Telemetry } from "../../src/core/ports/telemetry.ts";
import { EventLoopMonitor, type Stall } from "../../src/host/system/event-loop.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { ChunkRecorder, columns } from "../../src/telemetry/otlp/rows.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, type Setup, tool } from "../agent/harness.ts";
import { OpenSpans } from "./open-spans.ts";

describe("chunks past the limit", () => {
  const text = 0;
  const error = 5;
  const kept = (recorder: ChunkRecorder): number[] =>
    Array.from({ length: recorder.rows.count }, (_, row) => recorder.rows.cell(row, columns.chunk.index));

  it("are all kept as long as there are no more than the limit", () => {
    for (const limit of [1, 3, 4, 100, 1_000]) {
      const recorder = new ChunkRecorder(limit);
      for (let index = 0; index < limit; index++) recorder.chunk(text, 1, index, index);
      recorder.close();
      expect(kept(recorder).sort((a, b) => a - b)).to.deep.equal(Array.from({ length: limit }, (_, index) => index));
      expect(recorder.suppressed).to.equal(0);
    }
  });

  it("are kept where they tell something: the first, around gaps, errors, the last", () => {
    const recorder = new ChunkRecorder(1_000);
    let now = 0;
    for (let index = 0; index < 6_000; index++) {
      now += index === 3_000 ? 900 : index === 4_500 ? 400 : 5;
      recorder.chunk(index === 5_000 ? error : text, 1, now, now + 1);
    }
    recorder.close();
    const indexes = kept(recorder);
    expect(indexes).to.have.length(1_000);
    expect(new Set(indexes).size).to.equal(1_000);
    expect(indexes).to.include.members([0, 749, 2_999, 3_000, 4_499, 4_500, 5_000, 5_998, 5_999]);
    expect(recorder.suppressed).to.equal(5_000);
    expect(recorder.rows.cell(indexes.indexOf(3_000), columns.chunk.gap)).to.equal(900);
    expect(recorder.rows.cell(indexes.indexOf(5_999), columns.chunk.gap)).to.equal(5);
  });

  it("never number more than the limit, however many gaps there are", () => {
    const recorder = new ChunkRecorder(100);
    let now = 0;
    for (let index = 0; index < 5_000; index++) {
      now += index % 10 === 0 ? 500 : 1;
      recorder.chunk(text, 1, now, now);
    }
    recorder.close();
    expect(recorder.rows.count).to.equal(100);
    expect(kept(recorder)).to.include(4_999);
  });

  it("take their accumulation steps with them only if they are kept", () => {
    const recorder = new ChunkRecorder(8);
    for (let index = 0; index < 20; index++) {
      recorder.chunk(2, 1, index, index);
      recorder.step(index, 0, 1, false, index, index + 0.5);
    }
    recorder.close();
    expect(recorder.steps.count).to.equal(6);
    for (let step = 0; step < recorder.steps.count; step++) {
      const row = recorder.steps.cell(step, columns.step.chunk);
      expect(recorder.rows.start(row)).to.equal(recorder.steps.start(step));
    }
  });
});

describe("the time of a run, measured", () => {
  let spans: OpenSpans;
  let telemetry: Telemetry;
  beforeEach(async () => {
    spans = new OpenSpans();
    telemetry = await createTelemetry(defaultSettings, { log: silentLog, spanProcessors: [spans] });
  });
  afterEach(() => telemetry.close());

  const request = { agent: "tester", input: { text: "go" } };
  const bench = (model: ScriptedModel, more: Partial<Setup> = {}): Bench =>
    new Bench({
      model: telemetry.provider("p0", "openai", model),
      around: (log) => telemetry.runLog(log, { ownership: log.ownership, tenant: "default", request, signals: 0 }, []),
      ...more,
    });

  it("has a span for each wait before a retry, and a failed round with its status", async () => {
    const slow = say.fail("rate_limited", "slow down", { status: 429, retryAfterMs: 40 });
    const done = await bench(new ScriptedModel([[slow], [slow], ["ok"]]), { chain: { retry: { max: 2 } } }).run();
    const waits = spans.named("venturi.backoff");
    expect(waits).to.have.length(2);
    for (const { attributes, duration } of waits) {
      expect(attributes).to.include({ "venturi.backoff.retry_after_ms": 40, "error.type": "rate_limited" });
      expect(duration[0] * 1e3 + duration[1] / 1e6).to.be.greaterThan(38);
    }
    const rounds = spans.named("venturi.round");
    expect(rounds.map(({ status }) => status.code)).to.deep.equal([
      SpanStatusCode.ERROR,
      SpanStatusCode.ERROR,
      SpanStatusCode.UNSET,
    ]);
    expect(rounds[0]?.attributes).to.include({ "http.response.status_code": 429 });
    expect(spans.named("invoke_agent tester")[0]?.attributes).to.include({ "venturi.run.retries": 2 });
    const { timing } = done.terminal;
    expect(timing.retryWait).to.be.greaterThan(76);
  });

  it("marks the round of a rejected call", async () => {
    const model = new ScriptedModel([[say.call(0, "look", { wrong: 1 })], ["sorry"]]);
    const look = { ...tool("look", () => "seen"), parameters: { type: "object", additionalProperties: false } };
    await bench(model, { tools: [look] }).run();
    const [round] = spans.named("venturi.round");
    expect(round?.attributes).to.include({ "venturi.round.rejected_calls": 1 });
    expect(round?.events.map(({ name }) => name)).to.deep.equal(["venturi.tool_call.rejected"]);
    expect(round?.events[0]?.attributes).to.include({ "error.type": "tool_invalid_arguments" });
  });

  it("says how long the longest silence of a stream was, and before which chunk", async () => {
    // On a busy machine another may be longer now and then.
    const find = () => spans.named("chat m").at(-1)?.attributes;
    for (let tries = 0; tries < 10 && find()?.["venturi.chunks.max_gap_index"] !== 2; tries++)
      await bench(new ScriptedModel([["a", "b", say.wait(80), "c", "d"]])).run();
    const attributes = find();
    expect(attributes?.["venturi.chunks.max_gap_ms"]).to.be.at.least(70);
    expect(attributes?.["venturi.chunks.max_gap_index"]).to.equal(2);
    const root = spans.named("invoke_agent tester").at(-1)?.attributes;
    expect(root?.["venturi.chunks.max_gap_ms"]).to.equal(attributes?.["venturi.chunks.max_gap_ms"]);
    expect(root).to.include({ "gen_ai.provider.name": "openai", "gen_ai.request.model": "m" });
  });

  it("is on the root span what the run's last event says, for many runs at once", async () => {
    const script = () =>
      new ScriptedModel([
        ["a", say.call(0, "look", {})],
        ["b", say.wait(5), "c"],
      ]);
    const look = tool("look", () => new Promise((resolve) => setTimeout(resolve, 3, "seen")));
    const runs = 200;
    const ended = await Promise.all(
      Array.from({ length: runs }, (_, index) =>
        bench(script(), { tools: [telemetry.tool(look)], run: `run-${index}` }).run(),
      ),
    );
    const roots = spans.named("invoke_agent tester");
    expect(roots).to.have.length(runs);
    for (const { terminal } of ended) {
      const root = roots.find(({ attributes }) => attributes["venturi.run.id"] === terminal.run);
      for (const [part, ms] of Object.entries(terminal.timing)) {
        expect(root?.attributes[`venturi.timing.${part}`] ?? 0, part).to.equal(ms);
      }
    }
  });
});

describe("the event loop", () => {
  it("blocked by a tool is noticed, with the tool's name", async () => {
    const stalls: Stall[] = [];
    const monitor = new EventLoopMonitor(
      { now: Date.now, monotonic: () => performance.now(), after: () => () => {}, turn: () => {} },
      (stall) => stalls.push(stall),
    ).start();
    const leave = monitor.watch();
    const block = tool("grind", () => {
      const end = performance.now() + 180;
      while (performance.now() < end);
      return "ground";
    });
    const model = new ScriptedModel([[say.call(0, "grind", {})], ["done"]]);
    await new Bench({ model, tools: [block], stalls: monitor }).run();
    leave();
    await new Promise((resolve) => setTimeout(resolve, 120));
    monitor.stop();
    const [stall] = stalls.filter(({ ms }) => ms > 100);
    expect(stall?.culprit).to.equal("tool grind of run run-1");
    expect(monitor.totalMs).to.be.greaterThan(100);
  });

  it("of half a second or more is known as soon as it ends, before the late sample too", () => {
    let now = 1_000;
    const monitor = new EventLoopMonitor(
      { now: Date.now, monotonic: () => now, after: () => () => {}, turn: () => {} },
      () => {},
    );
    expect(monitor.longAt()).to.equal(undefined);
    const leave = monitor.start().watch();
    now += 50 + 499;
    expect(monitor.longAt()).to.equal(undefined);
    monitor.look();
    now += 50 + 500;
    expect(monitor.longAt()).to.equal(now);
    monitor.look();
    const ended = now;
    now += 20;
    expect(monitor.longAt()).to.equal(ended);
    leave();
    monitor.stop();
  });

  it("is sampled every 50 ms while someone watches, and once a second otherwise", async () => {
    let looks = 0;
    const monotonic = () => {
      looks += 1;
      return performance.now();
    };
    const monitor = new EventLoopMonitor(
      { now: Date.now, monotonic, after: () => () => {}, turn: () => {} },
      () => {},
    ).start();
    // Three looks at rest take two seconds at least; of those of a machine that stops for a while, some try takes less.
    const looksOften = async (): Promise<void> => {
      for (let took = Number.POSITIVE_INFINITY; took > 1_500; ) {
        const start = performance.now();
        for (looks = 0; looks < 3; ) await new Promise((resolve) => setTimeout(resolve, 10));
        took = performance.now() - start;
      }
    };
    const rests = async (ms: number): Promise<void> => {
      const start = performance.now();
      looks = 0;
      await new Promise((resolve) => setTimeout(resolve, ms));
      expect(looks).to.be.at.most(1 + (performance.now() - start) / 1_000);
    };
    await rests(300);
    const [leave, leaveToo] = [monitor.watch(), monitor.watch()];
    await looksOften();
    leave();
    leave();
    await looksOften();
    leaveToo();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await rests(1_200);
    expect(looks).to.be.at.least(1);
    monitor.stop();
  });
});
