import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { expect } from "chai";
import type { EventOf, RunEvent } from "../../src/core/run/events.ts";
import { createTelemetry, openVenturi, type Telemetry, type Venturi } from "../../src/index.ts";
import { Loopback } from "../provider/loopback.ts";
import { OpenSpans } from "./open-spans.ts";

const server = fileURLToPath(new URL("../plugins/mcp/server.js", import.meta.url));
const yaml = `
version: 1
providers:
  demo: { type: simulator, pace: 0 }
  gone: { type: openai, apiKey: none, baseUrl: "http://127.0.0.1:9" }
tools:
  remote: { type: mcp, command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(server)}], tools: [meta] }
  manager: { type: agent, agent: manager }
  helper: { type: agent, agent: helper }
  broken: { type: agent, agent: broken }
models:
  once: { chain: [gone/none], retry: { max: 0 } }
agents:
  caller: { model: demo/small, instructions: "You call.", tools: [remote] }
  boss: { model: demo/small, instructions: "You ask.", tools: [manager] }
  manager: { model: demo/small, instructions: "You ask.", tools: [helper] }
  helper: { model: demo/small, instructions: "You help.", tools: [] }
  unlucky: { model: demo/small, instructions: "You ask.", tools: [broken] }
  broken: { model: once, instructions: "You fail.", tools: [] }
journal: { type: memory }
channels: {}
`;

describe("what a run sets going, in its trace", () => {
  let folder: string;
  let spans: OpenSpans;
  let telemetry: Telemetry;
  let venturi: Venturi;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "venturi-"));
    await writeFile(join(folder, "venturi.yaml"), yaml);
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    spans = new OpenSpans();
    telemetry = await createTelemetry({ logs: { level: "silent" } }, { spanProcessors: [spans] });
    venturi = await openVenturi({ configFile: join(folder, "venturi.yaml"), env: {}, telemetry });
  });

  async function finished(agent: string, text: string): Promise<RunEvent[]> {
    const { run } = await venturi.runs.start({ agent, input: { text } });
    const events: RunEvent[] = [];
    for await (const batch of venturi.runs.follow(run)) events.push(...batch);
    await venturi.close();
    expect([...spans.open.values(), ...spans.orphans()]).to.deep.equal([]);
    return events;
  }

  const one = (name: string): ReadableSpan => {
    const found = spans.named(name);
    if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} spans named ${name}`);
    return found[0];
  };
  const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;
  const idOf = (span: ReadableSpan) => span.spanContext().spanId;

  it("an MCP server is sent the trace context of the execution that calls it", async () => {
    const events = await finished("caller", "Use remote_meta");
    const told = events.find((event): event is EventOf<"tool.finished"> => event.type === "tool.finished");
    const { traceId, spanId } = one("execute_tool remote_meta").spanContext();
    expect(JSON.parse(String(told?.output))).to.include({ traceparent: `00-${traceId}-${spanId}-01` });
    expect(traceId).to.equal(one("invoke_agent caller").spanContext().traceId);
  });

  it("the caller's tracestate and baggage reach the model and the MCP server, also through agents called as tools", async () => {
    const seen: Record<string, unknown>[] = [];
    const upstream = await Loopback.start((response, { headers }) => {
      seen.push(headers);
      response.writeHead(400).end("{}");
    });
    await writeFile(
      join(folder, "venturi.yaml"),
      yaml
        .replace("http://127.0.0.1:9", upstream.url)
        .replace("retry: { max: 0 }", "retry: { max: 0 }, failover: never"),
    );
    await venturi.close();
    const again = await createTelemetry({ logs: { level: "silent" } }, { spanProcessors: [spans] });
    venturi = await openVenturi({ configFile: join(folder, "venturi.yaml"), env: {}, telemetry: again });
    const caller = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      tracestate: "vendor=a1",
      baggage: "customer=17",
    };
    const follow = async (agent: string, text: string) => {
      const { run } = await venturi.runs.start({ agent, input: { text }, ...caller });
      const events: RunEvent[] = [];
      for await (const batch of venturi.runs.follow(run)) events.push(...batch);
      return events;
    };
    const events = await follow("caller", "Use remote_meta");
    const told = events.find((event): event is EventOf<"tool.finished"> => event.type === "tool.finished");
    expect(JSON.parse(String(told?.output))).to.include({ tracestate: "vendor=a1", baggage: "customer=17" });
    await follow("unlucky", 'Use broken with task "hello"');
    expect(seen).to.have.length(1);
    expect(seen[0]).to.include({ tracestate: "vendor=a1", baggage: "customer=17" });
    expect(String(seen[0]?.traceparent)).to.match(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)/);
    await venturi.close();
    await upstream.stop();
    await writeFile(join(folder, "venturi.yaml"), yaml);
  });

  it("agents called by agents are each below the call, inside its time, in one trace", async () => {
    const [first] = await finished("boss", 'Use manager with task "Use helper with task hello"');
    const chain = ["invoke_agent boss", "execute_tool manager", "invoke_agent manager", "execute_tool helper"];
    const [boss, toManager, manager, toHelper] = chain.map(one);
    const helper = one("invoke_agent helper");
    if (!(boss && toManager && manager && toHelper)) throw new Error("a span is missing");
    expect(parentOf(manager)).to.equal(idOf(toManager));
    expect(parentOf(helper)).to.equal(idOf(toHelper));
    for (const [inner, outer] of [
      [manager, toManager],
      [helper, toHelper],
    ] as const) {
      expect(timeOf(inner.startTime) >= timeOf(outer.startTime), `${inner.name} starts late enough`).to.equal(true);
      expect(timeOf(inner.endTime) <= timeOf(outer.endTime), `${inner.name} ends early enough`).to.equal(true);
      expect(inner.links).to.deep.equal([]);
    }
    const following = spans.named("venturi.deliver tool").map(parentOf);
    expect(following).to.have.members([idOf(manager), idOf(helper)]);
    expect(new Set(spans.ended.map((span) => span.spanContext().traceId)).size).to.equal(1);
    const kept = JSON.stringify(telemetry.trace(first?.run ?? ""));
    for (const span of spans.ended) expect(kept, span.name).to.contain(idOf(span));
  });

  it("a failure of the agent called is recorded on its own root and on the call, and not on the caller's", async () => {
    await finished("unlucky", 'Use broken with task "hello"');
    expect(one("invoke_agent broken").attributes["error.type"]).to.equal("unavailable");
    expect(one("execute_tool broken").attributes["error.type"]).to.equal("tool_failed");
    expect(one("invoke_agent unlucky").attributes["error.type"]).to.equal(undefined);
  });
});

const timeOf = ([seconds, nanos]: readonly [number, number]): bigint =>
  BigInt(seconds) * 1_000_000_000n + BigInt(nanos);
