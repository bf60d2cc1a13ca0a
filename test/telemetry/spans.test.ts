import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from "@opentelemetry/sdk-trace";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { blockRows, blockSteps } from "../../src/telemetry/otlp/rows.ts";
import { echo, generationContext, request, wholeRun, wireProvider } from "./drive.ts";
import { named } from "./named.ts";
import type { ReceivedSpan } from "./protobuf-reader.ts";
import { Receiver } from "./receiver.ts";

describe("spans of a run", () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await Receiver.start();
  });
  afterEach(() => receiver.stop());

  const settings = () => ({ ...defaultSettings, otlp: { endpoint: receiver.endpoint, headers: { "x-key": "k" } } });

  it("the tree over OTLP is agent, round, chat, chunk, accumulate and tool, with their attributes", async () => {
    const telemetry = await createTelemetry(settings(), { log: silentLog, closeLimit: 60_000 });
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 8, callEvery: 4 }));
    await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
    await telemetry.close();
    const { spans } = receiver;
    const [agent] = named(spans, "invoke_agent assistant");
    const [round] = named(spans, "venturi.round");
    const [chat] = named(spans, "chat small");
    const [tool] = named(spans, "execute_tool echo");
    const chunks = named(spans, "venturi.chunk");
    const steps = named(spans, "venturi.accumulate");
    expect(agent?.parentSpanId).to.equal("");
    expect(round?.parentSpanId).to.equal(agent?.spanId);
    expect(chat?.parentSpanId).to.equal(round?.spanId);
    expect(tool?.parentSpanId).to.equal(round?.spanId);
    expect(chunks).to.have.length(8);
    const [stream] = named(spans, "venturi.stream");
    expect(stream?.parentSpanId).to.equal(chat?.spanId);
    for (const chunk of chunks) expect(chunk.parentSpanId).to.equal(stream?.spanId);
    expect(steps.map((step) => step.parentSpanId)).to.deep.equal([chunks[0]?.spanId, chunks[4]?.spanId]);
    expect(new Set(spans.map((span) => span.traceId)).size).to.equal(1);
    expect(new Set(spans.map((span) => span.spanId)).size).to.equal(spans.length);
    expect(agent?.attributes).to.include({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "assistant",
      "venturi.run.id": "run-1",
      "venturi.config.hash": "abc",
      "venturi.timing.providerStream": 10,
    });
    expect(round?.attributes).to.include({ "venturi.round.index": 1, "venturi.round.attempt": 1 });
    expect(chat?.kind).to.equal(3);
    expect(chat?.attributes).to.deep.include({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "small",
      "gen_ai.request.stream": true,
      "gen_ai.request.temperature": 0.5,
      "gen_ai.response.id": "response-1",
      "gen_ai.response.model": "small-2026",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 7,
      "gen_ai.usage.output_tokens": 8,
      "server.address": "models.example",
      "server.port": 443,
    });
    expect(chat?.attributes["gen_ai.response.time_to_first_chunk"]).to.be.greaterThan(0);
    expect(tool?.attributes).to.include({
      "gen_ai.tool.name": "echo",
      "gen_ai.tool.call.id": "call-run-1",
      "gen_ai.tool.type": "function",
      "venturi.tool.effect": "pure",
      "venturi.tool.eager": true,
    });
    expect(tool?.attributes["venturi.tool.saved_ms"]).to.equal(0.5); // as the event says
    expect(chunks[4]?.attributes).to.deep.include({
      "venturi.chunk.index": 4,
      "venturi.chunk.kind": "tool_call",
      "venturi.chunk.bytes": 100,
    });
    expect(steps[1]?.attributes).to.deep.equal({
      "venturi.accumulate.call": 0,
      "venturi.accumulate.bytes": 4,
      "venturi.accumulate.sealed": false,
    });
    expect(new Set(spans.map((span) => JSON.stringify(span.resource))).size).to.equal(1);
    expect(agent?.resource["service.name"]).to.equal("venturi");
    expect(receiver.headers.every((headers) => headers["x-key"] === "k")).to.equal(true);
  });

  it("chunk spans kept as numbers are what the SDK's own span objects would be", async () => {
    const memory = new InMemorySpanExporter();
    const numbers = await createTelemetry(settings(), { log: silentLog, closeLimit: 60_000 });
    const objects = await createTelemetry(defaultSettings, {
      log: silentLog,
      spanProcessors: [new SimpleSpanProcessor({ exporter: memory })],
    });
    for (const telemetry of [numbers, objects]) {
      const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 6, callEvery: 3 }));
      await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
    }
    await numbers.flush();
    await numbers.close();
    const made = memory.getFinishedSpans().map(shapeOfObject).sort(byShape);
    const sent = receiver.spans.map(shapeOfReceived).sort(byShape);
    expect(sent).to.deep.equal(made);
    await objects.close();
  });

  it("each chunk of a long stream has its span and its step, though they go out in several blocks", async () => {
    for (const chunks of [blockRows - 1, blockRows, blockRows + 1, 3 * blockRows + 8]) {
      const telemetry = await createTelemetry(settings(), { log: silentLog, closeLimit: 60_000 });
      const provider = telemetry.provider("demo", "openai", wireProvider({ chunks, callEvery: 1 }));
      await wholeRun(telemetry, `run-${chunks}`, { provider, tool: telemetry.tool(echo) });
      await telemetry.close();
      const trace = receiver.spans.filter(
        ({ traceId }) => traceId === named(receiver.spans, "invoke_agent assistant").at(-1)?.traceId,
      );
      const [stream, ...others] = named(trace, "venturi.stream");
      expect(others).to.deep.equal([]);
      expect(stream?.attributes["venturi.chunks.total"]).to.equal(chunks);
      const made = named(trace, "venturi.chunk");
      expect(made.map((chunk) => chunk.attributes["venturi.chunk.index"])).to.deep.equal([...Array(chunks).keys()]);
      for (const chunk of made) expect(chunk.parentSpanId).to.equal(stream?.spanId);
      const steps = named(trace, "venturi.accumulate");
      expect(steps.map((step) => step.parentSpanId)).to.deep.equal(made.map(({ spanId }) => spanId));
      expect(new Set(trace.map(({ spanId }) => spanId)).size).to.equal(trace.length);
    }
  });

  it("full blocks of a long stream go out while it goes on", async () => {
    const telemetry = await createTelemetry(settings(), { log: silentLog, closeLimit: 60_000 });
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 4 * blockRows, perRead: 1 }));
    let read = 0;
    for await (const _ of provider.stream?.(request(), generationContext("run-1", 1)) ?? []) {
      if (++read !== 3 * blockRows + 1) continue;
      await telemetry.flush();
      expect(named(receiver.spans, "venturi.chunk")).to.have.length(3 * blockRows);
      expect(named(receiver.spans, "venturi.stream")).to.deep.equal([]);
    }
    await telemetry.close();
    expect(named(receiver.spans, "venturi.chunk")).to.have.length(4 * blockRows);
  });

  it("the parents of a hundred interleaved runs never mix", async () => {
    const telemetry = await createTelemetry(settings(), { log: silentLog, closeLimit: 60_000 });
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 12, callEvery: 5 }));
    const tool = telemetry.tool(echo);
    const runs = Array.from({ length: 100 }, (_, index) => `run-${index}`);
    const logs = await Promise.all(runs.map((run) => wholeRun(telemetry, run, { provider, tool })));
    await telemetry.close();
    const byId = new Map(receiver.spans.map((span) => [span.spanId, span]));
    expect(byId.size).to.equal(receiver.spans.length);
    for (const span of receiver.spans) {
      if (span.parentSpanId === "") continue;
      const parent = byId.get(span.parentSpanId);
      expect(parent, `${span.name} has no parent`).to.not.equal(undefined);
      expect(parent?.traceId).to.equal(span.traceId);
    }
    for (const log of logs) {
      const first = log.events[0];
      const traceId = first?.type === "run.started" ? first.trace?.split("-")[1] : undefined;
      const own = receiver.spans.filter((span) => span.traceId === traceId);
      expect(named(own, "venturi.chunk")).to.have.length(12);
      expect(named(own, "invoke_agent assistant")[0]?.attributes["venturi.run.id"]).to.equal(log.ownership.run);
      expect(named(own, "execute_tool echo")[0]?.attributes["gen_ai.tool.call.id"]).to.equal(
        `call-${log.ownership.run}`,
      );
    }
  });

  it("three thousand chunks start at distinct microseconds, in the order they arrived", async () => {
    const telemetry = await createTelemetry({ ...settings(), maxChunkSpans: 5_000 }, { log: silentLog });
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 3_000, perRead: 16 }));
    await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
    await telemetry.close();
    const chunks = named(receiver.spans, "venturi.chunk");
    expect(chunks).to.have.length(3_000);
    const starts = chunks.map((chunk) => chunk.start);
    expect(chunks.map((chunk) => chunk.attributes["venturi.chunk.index"])).to.deep.equal(
      chunks.map((_, index) => index),
    );
    expect(new Set(starts).size).to.be.greaterThan(2_500);
    const [chat] = named(receiver.spans, "chat small");
    expect(chunks.every((chunk) => chat !== undefined && chunk.start >= chat.start && chunk.end <= chat.end)).to.equal(
      true,
    );
  });

  it("every one of ten thousand chunks, steps and appends has its span unless a limit is set", async () => {
    const telemetry = await createTelemetry(settings(), { log: silentLog, closeLimit: 60_000 });
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 10_000, perRead: 16, callEvery: 5 }));
    await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
    await telemetry.close();
    const chunks = named(receiver.spans, "venturi.chunk").map(({ attributes }) => attributes["venturi.chunk.index"]);
    expect(chunks).to.deep.equal([...Array(10_000).keys()]);
    expect(named(receiver.spans, "venturi.accumulate")).to.have.length(2_000);
    expect(named(receiver.spans, "chat small")[0]?.attributes).to.not.have.property("venturi.chunks.suppressed");
  });

  it("a frame of any number of fragments is exported in slices", async () => {
    const telemetry = await createTelemetry(settings(), { log: silentLog, closeLimit: 60_000 });
    const fragments = 10 * blockSteps + 1;
    const provider = telemetry.provider("demo", "openai", {
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      async *stream(_request, { observer }) {
        observer?.chunk("tool_call", 100, performance.now(), performance.now());
        for (let index = 0; index < fragments; index++) observer?.accumulated(0, 0, index, false, 1, 2);
        const early = () => named(receiver.spans, "venturi.accumulate").length;
        while (early() < 10 * blockSteps) await telemetry.flush(); // each time for five seconds at most
        expect(early()).to.equal(10 * blockSteps);
        yield [{ type: "done", finish: "stop" }];
      },
    });
    for await (const _ of provider.stream?.(request(), generationContext("run-1", 1)) ?? []);
    await telemetry.close();
    expect(named(receiver.spans, "venturi.accumulate")).to.have.length(fragments);
  });

  it("a trace in memory has its root and its rounds, however many chunks did not fit", async () => {
    for (const parts of [{}, { spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }]) {
      const telemetry = await createTelemetry(defaultSettings, { log: silentLog, ...parts });
      const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 21_000, perRead: 64 }));
      await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
      // OTLP JSON as a backend would read it
      const { resourceSpans } = telemetry.trace("run-1") as {
        resourceSpans: {
          scopeSpans: { scope: { attributes: { value: { intValue: number } }[] }; spans: { name: string }[] }[];
        }[];
      };
      await telemetry.close();
      const scope = resourceSpans[0]?.scopeSpans[0];
      const names = scope?.spans.map(({ name }) => name) ?? [];
      expect(names).to.include.members(["invoke_agent assistant", "venturi.round", "chat small", "venturi.stream"]);
      const kept = names.filter((name) => name === "venturi.chunk").length;
      expect(kept).to.be.within(19_900, 20_000);
      const [leftOut] = scope?.scope.attributes ?? [];
      expect(leftOut?.value.intValue).to.be.within(21_000 - kept, 21_000 - kept + 10);
    }
  });

  it("chunks past the limit are counted on the chat span and in metrics, and have no span", async () => {
    const telemetry = await createTelemetry({ ...settings(), maxChunkSpans: 5 }, { log: silentLog });
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 20 }));
    await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
    expect(await telemetry.metrics()).to.match(/^venturi_chunks_total\{.*kind="text".*\} 20$/m);
    await telemetry.close();
    expect(named(receiver.spans, "venturi.chunk")).to.have.length(5);
    expect(named(receiver.spans, "chat small")[0]?.attributes["venturi.chunks.suppressed"]).to.equal(15);
  });

  it("with `events` each chunk is an event on the chat span, beyond the SDK's default of 128", async () => {
    const telemetry = await createTelemetry({ ...settings(), chunks: "events" }, { log: silentLog });
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 300 }));
    await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
    await telemetry.close();
    expect(named(receiver.spans, "venturi.chunk")).to.have.length(0);
    const events = named(receiver.spans, "chat small")[0]?.events ?? [];
    expect(events).to.have.length(300);
    expect(events[299]?.attributes["venturi.chunk.index"]).to.equal(299);
  });

  it("with `metrics` there is neither span nor event for a chunk", async () => {
    const telemetry = await createTelemetry({ ...settings(), chunks: "metrics" }, { log: silentLog });
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 30 }));
    await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
    await telemetry.close();
    expect(named(receiver.spans, "venturi.chunk")).to.have.length(0);
    expect(named(receiver.spans, "chat small")[0]?.events).to.have.length(0);
  });

  it("a run sampled out by the caller leaves no span, and its trace context goes on unsampled", async () => {
    const telemetry = await createTelemetry(settings(), { log: silentLog, closeLimit: 60_000 });
    const seen: (string | undefined)[] = [];
    const provider = telemetry.provider("demo", "openai", {
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      async *stream(_request, context) {
        seen.push(context.traceparent);
        yield [{ type: "done", finish: "stop" }];
      },
    });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo), request: { traceparent } });
    await telemetry.close();
    expect(receiver.spans).to.have.length(0);
    expect(seen[0]).to.match(/^00-0af7651916cd43dd8448eb211c80319c-[\da-f]{16}-00$/);
  });
});

const varying = /time_to_first_chunk|gap_ms|max_gap_index|saved_ms/;
const steady = (attributes: object) =>
  Object.entries(attributes)
    .filter(([key]) => !varying.test(key))
    .sort();

const shapeOfObject = (span: ReadableSpan) =>
  JSON.stringify([span.name, span.kind + 1, steady(span.attributes), span.parentSpanContext === undefined]);
const shapeOfReceived = (span: ReceivedSpan) =>
  JSON.stringify([span.name, span.kind, steady(span.attributes), span.parentSpanId === ""]);
const byShape = (left: string, right: string) => (left < right ? -1 : 1);
