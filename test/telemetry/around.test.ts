import { expect } from "chai";
import type { Journal } from "../../src/core/journal/journal.ts";
import { type Log, silentLog } from "../../src/core/ports/log.ts";
import type { Runs } from "../../src/core/ports/runs.ts";
import type { Telemetry } from "../../src/core/ports/telemetry.ts";
import { encodeEvent } from "../../src/core/run/encode-event.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { blockRows } from "../../src/telemetry/otlp/rows.ts";
import { claimOf, echo, finished, PlainLog, roundStarted, started, wholeRun, wireProvider } from "./drive.ts";
import { named } from "./named.ts";
import { OpenSpans } from "./open-spans.ts";
import { Receiver } from "./receiver.ts";

describe("what is measured around a run", () => {
  let spans: OpenSpans;
  let telemetry: Telemetry;
  beforeEach(async () => {
    spans = new OpenSpans();
    telemetry = await createTelemetry(defaultSettings, { log: silentLog, spanProcessors: [spans] });
  });
  afterEach(() => telemetry.close());

  it("a durable append is a span below each run that it was for, until the terminal event's own", async () => {
    const journal = telemetry.journal({ append: async () => new Set() } as Partial<Journal> as Journal);
    const plain = new PlainLog("run-1");
    const log = telemetry.runLog(plain, claimOf(plain), []);
    // The committer's part: what the log wrote is appended before `step` resolves.
    plain.flush = async () => {
      await journal.append([{ ownership: plain.ownership, events: plain.events.slice(-1) }]);
    };
    await log.step(started);
    await log.step(finished);
    const [agent] = spans.named("invoke_agent assistant");
    const appends = spans.named("venturi.journal.append");
    expect(appends).to.have.length(2);
    for (const append of appends) {
      expect(append.parentSpanContext?.spanId).to.equal(agent?.spanContext().spanId);
      expect(append.attributes).to.deep.equal({ "venturi.journal.events": 1, "venturi.journal.runs": 1 });
    }
    expect(await telemetry.metrics()).to.match(/^venturi_journal_append_duration_seconds_count.* 2$/m);
  });

  it("many appends go out in full blocks while the run goes on, each once", async () => {
    const journal = telemetry.journal({ append: async () => new Set() } as Partial<Journal> as Journal);
    const plain = new PlainLog("run-1");
    const log = telemetry.runLog(plain, claimOf(plain), []);
    plain.flush = async () => {
      await journal.append([{ ownership: plain.ownership, events: plain.events.slice(-1) }]);
    };
    await log.step(started);
    for (let count = 0; count < 2 * blockRows; count++) await log.step(roundStarted(1));
    expect(spans.named("venturi.journal.append")).to.have.length(2 * blockRows);
    await log.step(finished);
    expect(spans.named("venturi.journal.append")).to.have.length(2 * blockRows + 2);
    expect(spans.orphans()).to.deep.equal([]);
  });

  it("a run that was claimed from the queue links to whoever asked for it instead of being its child", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const plain = new PlainLog("run-1");
    const claim = claimOf(plain, { traceparent });
    const journal = telemetry.journal({ claim: async () => [claim] } as Partial<Journal> as Journal);
    await journal.claim("worker", 1);
    await telemetry.runLog(plain, claim, []).step(started);
    const direct = new PlainLog("run-2");
    await telemetry.runLog(direct, claimOf(direct, { traceparent }), []).step(started);
    await telemetry.close();
    const [queued, asked] = spans.named("invoke_agent assistant");
    expect(queued?.parentSpanContext).to.equal(undefined);
    expect(queued?.links[0]?.context.spanId).to.equal("b7ad6b7169203331");
    expect(asked?.parentSpanContext?.spanId).to.equal("b7ad6b7169203331");
    expect(asked?.links).to.have.length(0);
  });

  it("a run that a tool waits for is the tool's child, even if it was claimed from the queue", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const plain = new PlainLog("run-2");
    const claim = claimOf(plain, { traceparent, parent: { run: "run-1", call: "call-1", depth: 1 } });
    await telemetry.journal({ claim: async () => [claim] } as Partial<Journal> as Journal).claim("worker", 1);
    await telemetry.runLog(plain, claim, []).step(started);
    await telemetry.close();
    const [child] = spans.named("invoke_agent assistant");
    expect(child?.parentSpanContext?.spanId).to.equal("b7ad6b7169203331");
    expect(child?.links).to.have.length(0);
  });

  it("a follower is a span below the run with events, bytes and the time it held us up", async () => {
    const plain = new PlainLog("run-1");
    const log = telemetry.runLog(plain, claimOf(plain), []);
    await log.step(started);
    await log.step(finished);
    const [agent] = spans.named("invoke_agent assistant");
    const runs = telemetry.runs(followable([[plain.events[0]], [plain.events[1]]]));
    let bytes = 0;
    for await (const events of runs.follow("run-1", { channel: "http" })) {
      for (const event of events) bytes += encodeEvent(event).length;
    }
    const [delivery] = spans.named("venturi.deliver http");
    expect(delivery?.parentSpanContext?.spanId).to.equal(agent?.spanContext().spanId);
    expect(delivery?.attributes).to.deep.include({ "venturi.deliver.events": 2, "venturi.deliver.bytes": bytes });
    expect(delivery?.attributes["venturi.deliver.stalled_ms"]).to.be.greaterThanOrEqual(0);
    expect(await telemetry.metrics()).to.match(/^venturi_followers_active\{?.*\}? 0$/m);
  });

  it("a follower of a run on another replica finds its parent in the first event; one that leaves is cancelled", async () => {
    const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const first = { type: "run.started", run: "far", seq: 1, at: 0, agent: "a", input: {}, trace } as RunEvent;
    for await (const _ of telemetry.runs(followable([[first], [first]])).follow("far")) break;
    const [delivery] = spans.named("venturi.deliver library");
    expect(delivery?.parentSpanContext?.spanId).to.equal("b7ad6b7169203331");
    expect(delivery?.attributes["venturi.cancelled"]).to.equal(true);
    expect(spans.open.size).to.equal(0);
  });

  it("a line of the log that names a run carries its trace and span, goes out over OTLP, and holds no secret", async () => {
    const receiver = await Receiver.start();
    const lines: unknown[] = [];
    const settings = { ...defaultSettings, otlp: { endpoint: receiver.endpoint, headers: {} } };
    const sending = await createTelemetry(settings, { log: silentLog });
    const log = sending.log({ ...silentLog, warn: (message, fields) => lines.push([message, fields]) } satisfies Log);
    const plain = new PlainLog("run-1");
    const runLog = sending.runLog(plain, claimOf(plain), []);
    await runLog.step(started);
    log.warn("retried with Bearer abcdef0123456789", { run: "run-1", code: "rate_limited" });
    log.debug("too quiet to be told");
    await runLog.step(finished);
    await sending.close();
    const [agent] = named(receiver.spans, "invoke_agent assistant");
    const ids = { trace_id: agent?.traceId, span_id: agent?.spanId };
    expect(lines).to.deep.equal([["retried with [redacted]", { run: "run-1", code: "rate_limited", ...ids }]]);
    expect(receiver.logs).to.deep.equal([
      {
        body: "retried with [redacted]",
        severity: "warn",
        traceId: agent?.traceId,
        spanId: agent?.spanId,
        attributes: { "venturi.run.id": "run-1", "error.type": "rate_limited" },
      },
    ]);
    expect([...receiver.metricNames]).to.include.members(["venturi.runs.active", "gen_ai.invoke_agent.duration"]);
    await receiver.stop();
  });

  it("the ring gives a run's spans, and those of the runs it called, as OTLP JSON; old runs leave it", async () => {
    const small = await createTelemetry({ ...defaultSettings, ring: 3 }, { log: silentLog });
    const provider = small.provider("demo", "openai", wireProvider({ chunks: 4, callEvery: 2 }));
    const parts = { provider, tool: small.tool(echo) };
    await wholeRun(small, "old", parts);
    await wholeRun(small, "run-1", parts);
    await wholeRun(small, "run-2", { ...parts, request: { parent: { run: "run-1", call: "c", depth: 1 } } });
    await wholeRun(small, "run-3", parts);
    expect(small.trace("old")).to.equal(undefined);
    expect(small.trace("never")).to.equal(undefined);
    const seen = (run: string) => {
      const document = small.trace(run) as { resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[] };
      return document.resourceSpans[0]?.scopeSpans[0]?.spans.map((span) => span.name) ?? [];
    };
    const once = [
      "chat small",
      "execute_tool echo",
      "invoke_agent assistant",
      "venturi.accumulate",
      "venturi.accumulate",
    ];
    const chunks = Array<string>(4).fill("venturi.chunk");
    expect(seen("run-3").sort()).to.deep.equal([...once, ...chunks, "venturi.round", "venturi.stream"].sort());
    expect(seen("run-1")).to.have.length(2 * seen("run-3").length);
    await small.close();
  });

  it("a run's events pass through unchanged but for the trace in the first", async () => {
    const plain = new PlainLog("run-1");
    const log = telemetry.runLog(plain, claimOf(plain), []);
    await log.step(started);
    log.write(roundStarted(1));
    log.write({ type: "text.delta", round: 1, text: "x" });
    await log.step(finished);
    const [first, ...rest] = plain.events;
    expect(first)
      .to.have.property("trace")
      .that.matches(/^00-[\da-f]{32}-[\da-f]{16}-01$/);
    expect(rest.map(({ type }) => type)).to.deep.equal(["round.started", "text.delta", "run.finished"]);
    expect(log.head).to.equal(4);
  });
});

const followable = (batches: readonly (readonly (RunEvent | undefined)[])[]): Runs =>
  ({
    async *follow() {
      for (const batch of batches) yield batch.filter((event) => event !== undefined);
    },
  }) as Partial<Runs> as Runs;
