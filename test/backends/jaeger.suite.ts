import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { RunEvent } from "../../src/core/run/events.ts";
import { type Host, openHost } from "../../src/host/open.ts";
import { eventually, json } from "./scene.ts";

/** Run by `npm run test:jaeger`, which starts what these point at. */
const jaeger = process.env.JAEGER_URL ?? "";
const otlp = process.env.OTLP_URL ?? "";
const collectorMetrics = process.env.COLLECTOR_METRICS_URL ?? "";

const yaml = `
version: 1
providers:
  demo: { type: simulator, pace: 15 }
tools:
  clock: { type: clock }
  calculator: { type: calculator }
agents:
  assistant: { model: demo/small, instructions: "You help.", tools: [clock, calculator] }
  broken: { model: "demo/small!status=401" }
journal: { type: memory }
channels: {}
telemetry: { otlp: "${otlp}", logs: { level: silent } }
`;

interface JaegerSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
  readonly status?: { readonly code?: number; readonly message?: string };
  readonly events?: readonly { readonly name: string; readonly attributes: unknown }[];
}

describe("a run of an agent with tools, seen in Jaeger through the collector", () => {
  const began = new Date(Date.now() - 60_000);
  let folder: string;
  let host: Host;
  let run = "";
  let events: RunEvent[] = [];
  let spans: JaegerSpan[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "venturi-jaeger-"));
    const configFile = join(folder, "venturi.yaml");
    await writeFile(configFile, yaml);
    host = await openHost({ configFile });
    const asked = { agent: "assistant", input: { text: "What is 12 * 12, and what time is it in Berlin?" } };
    run = (await host.runs.start(asked)).run;
    for await (const batch of host.runs.follow(run, { channel: "test" })) events = [...events, ...batch];
    await host.telemetry.flush();
    spans = await arrived(host.telemetry.trace(run));
  });

  after(async () => {
    await host.close();
    await rm(folder, { recursive: true });
  });

  /** All spans that the process itself has of the run, asked of Jaeger until they are there. */
  async function arrived(local: unknown): Promise<JaegerSpan[]> {
    const expected = spansOf(local).length;
    const query = new URLSearchParams({
      "query.service_name": "venturi",
      "query.start_time_min": began.toISOString(),
      "query.start_time_max": new Date(Date.now() + 60_000).toISOString(),
      "query.num_traces": "20",
    });
    for (let tries = 0; ; tries++) {
      const response = await fetch(`${jaeger}/api/v3/traces?${query}`);
      const found = response.ok ? spansOf(((await response.json()) as { result: unknown }).result) : [];
      const own = found.filter((span) => span.traceId === traceId());
      if (own.length >= expected) return own;
      if (tries === 300) throw new Error(`Jaeger has ${own.length} of ${expected} spans`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  const traceId = () => {
    const first = events[0];
    return first?.type === "run.started" ? first.trace?.split("-")[1] : undefined;
  };
  const named = (name: string) =>
    spans
      .filter((span) => span.name === name)
      .sort((left, right) => (BigInt(left.startTimeUnixNano) < BigInt(right.startTimeUnixNano) ? -1 : 1));
  const attributesOf = (span: JaegerSpan | undefined) =>
    Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, plain(value)]));

  it("the service is known", async () => {
    const { services } = (await (await fetch(`${jaeger}/api/v3/services`)).json()) as { services: string[] };
    expect(services).to.include("venturi");
  });

  it("the tree is agent, round, chat, chunk, accumulate, tool, delivery and append, with no span lost", () => {
    const [agent] = named("invoke_agent assistant");
    const rounds = named("venturi.round");
    expect(rounds).to.have.length(2);
    for (const round of rounds) expect(round.parentSpanId).to.equal(agent?.spanId);
    const chats = named("chat small");
    expect(chats.map((chat) => chat.parentSpanId)).to.deep.equal(rounds.map((round) => round.spanId));
    for (const name of ["execute_tool calculator", "execute_tool clock"]) {
      expect(named(name).map((tool) => tool.parentSpanId)).to.deep.equal([rounds[0]?.spanId]);
    }
    for (const name of ["venturi.deliver test", "venturi.journal.append"]) {
      expect(named(name).length, name).to.be.greaterThan(0);
      for (const span of named(name)) expect(span.parentSpanId, name).to.equal(agent?.spanId);
    }
    const ids = new Set(spans.map((span) => span.spanId));
    expect(ids.size).to.equal(spans.length);
    for (const span of spans) if (span !== agent) expect(ids.has(span.parentSpanId ?? ""), span.name).to.equal(true);
  });

  it("each chunk is a span below its generation's stream, in order, and each fragment's accumulation below its chunk", () => {
    for (const chat of named("chat small")) {
      const [stream] = named("venturi.stream").filter((span) => span.parentSpanId === chat.spanId);
      const chunks = named("venturi.chunk").filter((chunk) => chunk.parentSpanId === stream?.spanId);
      expect(chunks.length).to.equal(attributesOf(chat)["venturi.chunks.total"]);
      expect(chunks.map((chunk) => attributesOf(chunk)["venturi.chunk.index"])).to.deep.equal(chunks.map((_, i) => i));
      for (const chunk of chunks) {
        expect(BigInt(chunk.startTimeUnixNano) >= BigInt(chat.startTimeUnixNano)).to.equal(true);
        expect(BigInt(chunk.endTimeUnixNano) <= BigInt(chat.endTimeUnixNano)).to.equal(true);
      }
    }
    const chunks = new Map(named("venturi.chunk").map((chunk) => [chunk.spanId, chunk]));
    const steps = named("venturi.accumulate");
    expect(steps.length).to.be.greaterThan(1);
    for (const step of steps) {
      expect(attributesOf(chunks.get(step.parentSpanId ?? ""))["venturi.chunk.kind"]).to.equal("tool_call");
    }
  });

  it("the attributes are the conventions' and our own", () => {
    const [agent] = named("invoke_agent assistant");
    expect(attributesOf(agent)).to.include({ "gen_ai.agent.name": "assistant", "venturi.run.id": run });
    // Parts that took no time are left out. On a machine without a free core the loop's delay takes the provider's time over.
    const { "venturi.timing.providerStream": streamed, "venturi.timing.stalled": stalled } = attributesOf(agent);
    expect(Number(streamed ?? 0) + Number(stalled ?? 0)).to.be.above(0);
    const [chat] = named("chat small");
    expect(attributesOf(chat)).to.include({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "simulator",
      "gen_ai.request.model": "small",
      "server.address": "127.0.0.1",
    });
    expect(attributesOf(chat)).to.have.property("gen_ai.usage.output_tokens").greaterThan(0);
    const [tool] = named("execute_tool calculator");
    expect(attributesOf(tool)).to.include({ "gen_ai.tool.name": "calculator", "venturi.tool.effect": "pure" });
    expect(attributesOf(tool)).to.have.property("venturi.tool.saved_ms");
  });

  it("a failed run has the status, the exception and the tag that Jaeger searches for", async () => {
    const failed = (await host.runs.start({ agent: "broken", input: { text: "go" } })).run;
    for await (const _batch of host.runs.follow(failed));
    await host.telemetry.flush();
    const query = new URLSearchParams({
      "query.service_name": "venturi",
      "query.attributes": JSON.stringify({ "venturi.run.id": failed }),
      "query.start_time_min": began.toISOString(),
      "query.start_time_max": new Date(Date.now() + 60_000).toISOString(),
      "query.num_traces": "20",
    });
    const root = await eventually("the failed run", async () => {
      const answer = (await json(`${jaeger}/api/v3/traces?${query}`)) as { result: unknown } | undefined;
      return spansOf(answer?.result).find(({ name }) => name === "invoke_agent broken");
    });
    expect(attributesOf(root)).to.include({ "error.type": "llm_error", "venturi.run.id": failed });
    expect(root.status?.code).to.equal(2);
    expect(root.status?.message).to.match(/^agent\.run: provider\.stream: .*answered 401/);
    const [event] = root.events ?? [];
    expect(event?.name).to.equal("exception");
    expect(JSON.stringify(event?.attributes)).to.include("answered 401");
  });

  it("the collector counts generations and tools, and no chunk", async () => {
    // The connector's first figure of a new series is zero, so that rates can be told.
    const counted = /^traces_span_metrics_calls_total\{.*span_name="chat small".*\} [1-9]/m;
    let text = "";
    for (let tries = 0; tries < 100 && !counted.test(text); tries++) {
      text = await (await fetch(collectorMetrics)).text();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(text).to.match(counted);
    expect(text).to.not.match(/span_name="venturi\.(chunk|accumulate)"/);
    expect(text).to.match(/^venturi_chunks_total\{.*kind="text".*\} [1-9]/m);
    expect(text).to.match(/^gen_ai_client_operation_duration_seconds_count\{/m);
  });

  it("says what it saw", () => {
    const counts = new Map<string, number>();
    for (const { name } of spans) counts.set(name, (counts.get(name) ?? 0) + 1);
    console.log(`      trace ${traceId()}: ${spans.length} spans in Jaeger`);
    for (const [name, count] of counts) console.log(`        ${String(count).padStart(4)} × ${name}`);
    expect(spans.length).to.equal(spansOf(host.telemetry.trace(run)).length);
  });
});

function spansOf(document: unknown): JaegerSpan[] {
  const { resourceSpans = [] } = (document ?? {}) as { resourceSpans?: { scopeSpans: { spans: JaegerSpan[] }[] }[] };
  return resourceSpans.flatMap((resource) => resource.scopeSpans.flatMap((scope) => scope.spans));
}

function plain(value: Record<string, unknown>): unknown {
  const [kind, inner] = Object.entries(value)[0] ?? [];
  return kind === "intValue" ? Number(inner) : inner;
}
