import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { createTelemetry, openVenturi } from "../../src/index.ts";
import { OpenSpans } from "./open-spans.ts";

const yaml = `
version: 1
providers:
  demo: { type: simulator, pace: 0 }
tools:
  calculator: { type: calculator }
  helper: { type: agent, agent: helper, description: "calculator: evaluates an arithmetic expression" }
agents:
  assistant: { model: demo/small, instructions: "You help.", tools: [calculator] }
  asker: { model: demo/small, instructions: "You ask.", tools: [helper] }
  helper: { model: demo/small, instructions: "You help.", tools: [] }
journal: { type: memory }
channels: {}
`;

describe("telemetry of a whole host", () => {
  let folder: string;
  let configFile: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "venturi-"));
    configFile = join(folder, "venturi.yaml");
    await writeFile(configFile, yaml);
  });
  after(() => rm(folder, { recursive: true }));

  async function measured() {
    const spans = new OpenSpans();
    const telemetry = await createTelemetry({ logs: { level: "silent" } }, { spanProcessors: [spans] });
    const venturi = await openVenturi({ configFile, env: {}, telemetry });
    return { spans, venturi };
  }

  it("a hundred runs at once over real HTTP have a tree each; none is open, none is orphaned, none has a foreign parent", async () => {
    const { spans, venturi } = await measured();
    const agent = venturi.agent("assistant");
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) => agent.execute(`What is ${index} * 3?`)),
    );
    await venturi.close();
    expect([...spans.open.values()]).to.deep.equal([]);
    expect(spans.orphans()).to.deep.equal([]);
    const traces = new Map(spans.ended.map((span) => [span.spanContext().spanId, span.spanContext().traceId]));
    const foreign = spans.ended.filter((span) => {
      const trace = traces.get(span.parentSpanContext?.spanId ?? "");
      return trace !== undefined && trace !== span.spanContext().traceId;
    });
    expect(foreign).to.have.length(0);
    const roots = new Map(
      spans.named("invoke_agent assistant").map((root) => [root.attributes["venturi.run.id"], root]),
    );
    expect(roots.size).to.equal(100);
    for (const { run } of results) {
      const traceId = roots.get(run)?.spanContext().traceId;
      const own = spans.ended.filter((span) => span.spanContext().traceId === traceId);
      const count = (name: string) => own.filter((span) => span.name === name).length;
      expect(count("venturi.round")).to.equal(2);
      expect(count("chat small")).to.equal(2);
      expect(count("execute_tool calculator")).to.equal(1);
      expect(count("venturi.chunk")).to.be.greaterThan(4);
      expect(count("venturi.accumulate")).to.be.greaterThan(0);
      expect(count("venturi.deliver library")).to.equal(1);
      expect(count("venturi.journal.append")).to.be.greaterThan(2);
    }
  });

  it("an agent called as a tool is below the call, in the same trace", async () => {
    const { spans, venturi } = await measured();
    await venturi.agent("asker").execute("Use helper for 6 * 7");
    await venturi.close();
    const [execution] = spans.named("execute_tool helper");
    const [inner] = spans.named("invoke_agent helper");
    expect(execution, "the model did not call the helper").to.not.equal(undefined);
    expect(inner?.parentSpanContext?.spanId).to.equal(execution?.spanContext().spanId);
    expect([...spans.open.values(), ...spans.orphans()]).to.deep.equal([]);
  });

  it("the caller's trace context becomes the run's parent, and goes on to the model", async () => {
    const { spans, venturi } = await measured();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const { run } = await venturi.runs.start({ agent: "helper", input: { text: "hello" }, traceparent });
    for await (const _ of venturi.runs.follow(run));
    await venturi.close();
    expect(spans.named("invoke_agent helper")[0]?.parentSpanContext?.spanId).to.equal("b7ad6b7169203331");
    expect(new Set(spans.ended.map((span) => span.spanContext().traceId))).to.deep.equal(
      new Set(["0af7651916cd43dd8448eb211c80319c"]),
    );
  });

  it("with `telemetry: off` a run loads nothing of OpenTelemetry, with `telemetry: {}` the SDK, but nothing that sends", async () => {
    const files = ["off", "{}"].map((setting, index) => ({ setting, file: join(folder, `lazy-${index}.yaml`) }));
    for (const { setting, file } of files) await writeFile(file, `${yaml}telemetry: ${setting}\n`);
    const script = `
      import { registerHooks } from "node:module";
      const seen = new Set();
      registerHooks({ resolve(specifier, context, next) {
        if (specifier.startsWith("@opentelemetry/")) seen.add(specifier);
        return next(specifier, context);
      } });
      const { openVenturi } = await import(${JSON.stringify(new URL("../../src/index.js", import.meta.url).href)});
      for (const configFile of ${JSON.stringify(files.map(({ file }) => file))}) {
        const venturi = await openVenturi({ configFile, env: {} });
        await venturi.agent("helper").execute("hello");
        await venturi.close();
        console.log(JSON.stringify([...seen]));
      }`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [out] = await Promise.all([text(child.stdout), once(child, "close")]);
    const [off, on] = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as string[]);
    expect(off).to.deep.equal([]);
    expect(on).to.include("@opentelemetry/sdk-trace");
    expect(on?.filter((name) => /sdk-node|otlp|prometheus|sdk-logs/.test(name))).to.deep.equal([]);
  });
});
