import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Telemetry } from "../../src/core/ports/telemetry.ts";
import { processMetrics } from "../../src/telemetry/base/names.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { AttributeSets } from "../../src/telemetry/metrics/instruments.ts";
import { Meter } from "../../src/telemetry/metrics/meter.ts";
import { claimOf, echo, finished, PlainLog, started, wholeRun, wireProvider } from "./drive.ts";
import { OpenSpans } from "./open-spans.ts";

describe("metrics as text", () => {
  let telemetry: Telemetry;
  let spans: OpenSpans;
  beforeEach(async () => {
    spans = new OpenSpans();
    telemetry = await createTelemetry(defaultSettings, { log: silentLog, version: "1.2.3", spanProcessors: [spans] });
  });
  afterEach(() => telemetry.close());
  const run = (name: string) =>
    wholeRun(telemetry, name, {
      provider: telemetry.provider("demo", "openai", wireProvider({ chunks: 3 })),
      tool: telemetry.tool(echo),
    });

  it("are what promtool accepts", async function () {
    await run("run-1");
    telemetry.count("venturi.config.reload", { outcome: 'a\nstrange "one" \\' });
    await telemetry.metrics();
    const input = await telemetry.metrics();
    try {
      execFileSync("promtool", ["check", "metrics"], { input, stdio: ["pipe", "pipe", "pipe"] });
    } catch (thrown) {
      const { code, status, stdout, stderr } = thrown as {
        code?: string;
        status?: number;
        stdout: Buffer;
        stderr: Buffer;
      };
      if (code === "ENOENT") return this.skip();
      expect.fail(`promtool exits with ${status}: ${stdout}${stderr}`);
    }
  });

  it("have, as OpenMetrics, a unit, a counter's name without _total, exemplars and an end", async () => {
    await run("run-1");
    const text = await telemetry.metrics("openmetrics");
    const lines = text.trimEnd().split("\n");
    expect(lines.at(-1)).to.equal("# EOF");
    expect(lines).to.include.members([
      "# TYPE venturi_chunks counter",
      "# TYPE gen_ai_invoke_agent_duration_seconds histogram",
      "# UNIT gen_ai_invoke_agent_duration_seconds seconds",
    ]);
    expect(text).to.match(/^venturi_chunks_total\{.*kind="text".*\} 3$/m);
    const names = lines.filter((line) => line.startsWith("# TYPE")).map((line) => line.split(" ")[2]);
    expect(new Set(names).size).to.equal(names.length);
    const { traceId, spanId } = spans.named("invoke_agent assistant")[0]?.spanContext() ?? expect.fail("no span");
    const exemplar = ` # {trace_id="${traceId}",span_id="${spanId}"} `;
    const found = lines.filter((line) => line.includes(exemplar)).map((line) => line.split("_bucket")[0]);
    expect(found).to.include("gen_ai_invoke_agent_duration_seconds");
    expect(text).to.match(
      /^gen_ai_client_operation_duration_seconds_bucket.* # \{trace_id="\w{32}",span_id="\w{16}"\} 0\.\d+ \d+\.?\d*$/m,
    );
    expect(text).to.match(/^gen_ai_execute_tool_duration_seconds_bucket.* # \{trace_id=/m);
    expect(await telemetry.metrics()).to.not.match(/ # \{| UNIT |# EOF/);
  });

  it("count what an agent's runs called, by agent and tenant", async () => {
    await run("run-1");
    const plain = new PlainLog("run-2");
    const log = telemetry.runLog(plain, { ...claimOf(plain), tenant: "acme" }, []);
    await log.step(started);
    await log.step(finished);
    const text = await telemetry.metrics();
    expect(text).to.include('gen_ai_invoke_agent_inference_calls_sum{gen_ai_agent_name="assistant"} 1');
    expect(text).to.include('gen_ai_invoke_agent_tool_calls_sum{gen_ai_agent_name="assistant"} 1');
    expect(text).to.include(
      'gen_ai_invoke_agent_inference_calls_sum{gen_ai_agent_name="assistant",venturi_tenant="acme"} 0',
    );
    expect(text).to.match(/^gen_ai_invoke_agent_duration_seconds_count\{.*venturi_tenant="acme".*\} 1$/m);
    expect(text).to.match(
      /^gen_ai_client_token_usage_sum\{.*gen_ai_agent_name="assistant".*token_type="output".*\} 3$/m,
    );
  });

  it("name no more than 2000 series a metric, and count the rest together", async () => {
    const meter = new Meter("1.0.0");
    const sets = new AttributeSets();
    const counter = meter.counter({ name: "many", description: "", unit: "" });
    for (let n = 0; n < 30_000; n++) counter(sets.of({ tenant: String(n) })).value++;
    const { resourceMetrics } = await meter.collect();
    const [only] = resourceMetrics.scopeMetrics[0]?.metrics ?? [];
    const points = only?.dataPoints ?? [];
    expect(points).to.have.length(2_001);
    const last = points.find(({ attributes }) => attributes["otel.metric.overflow"] === true);
    expect(last?.value).to.equal(28_000);
    expect(resourceMetrics.scopeMetrics[0]?.scope).to.deep.equal({
      name: "venturi",
      version: "1.0.0",
      schemaUrl: "https://opentelemetry.io/schemas/1.45.0",
    });
  });
});

describe("metrics of the process", () => {
  it("are the conventions' and tell of a blocked event loop, garbage and CPU", async function () {
    this.retries(3); // garbage and delays are seen when V8 and the machine have time
    const telemetry = await createTelemetry(defaultSettings, { log: silentLog });
    await telemetry.metrics(); // begins to watch
    await new Promise((resolve) => setTimeout(resolve, 30));
    const end = performance.now() + 150;
    let garbage: unknown[] = [];
    // At least some tens of MB, however little of that time a busy machine gives.
    for (let made = 0; made < 200 || performance.now() < end; made++)
      garbage = Array.from({ length: 10_000 }, (_, n) => ({ n, garbage: garbage.length }));
    await new Promise((resolve) => setTimeout(resolve, 60));
    const text = await telemetry.metrics();
    await telemetry.close();
    const value = (pattern: RegExp): number =>
      Number(pattern.exec(text)?.[1] ?? expect.fail(`no ${pattern} in ${text}`));
    expect(value(/^nodejs_eventloop_delay_max_seconds (\S+)$/m)).to.be.within(0.1, 5);
    expect(value(/^nodejs_eventloop_delay_min_seconds (\S+)$/m)).to.be.at.least(0);
    expect(value(/^nodejs_eventloop_utilization_ratio (\S+)$/m)).to.be.within(0.3, 1);
    expect(value(/^nodejs_eventloop_time_seconds_total\{nodejs_eventloop_state="active"\} (\S+)$/m)).to.be.above(0.1);
    expect(value(/^v8js_gc_duration_seconds_count\{v8js_gc_type="minor"\} (\S+)$/m)).to.be.above(0);
    expect(value(/^process_cpu_time_seconds_total\{cpu_mode="user"\} (\S+)$/m)).to.be.above(0.1);
    expect(value(/^process_memory_usage_bytes (\S+)$/m)).to.be.above(20e6);
    expect(value(/^v8js_memory_heap_used_bytes\{v8js_heap_space_name="old_space"\} (\S+)$/m)).to.be.above(1e6);
    expect(value(/^v8js_resource_active\{v8js_resource_type="\w+"\} (\S+)$/m)).to.be.at.least(0);
    expect(value(/^process_uptime_seconds (\S+)$/m)).to.be.above(0);
    if (process.platform === "linux") expect(value(/^process_open_file_descriptor (\S+)$/m)).to.be.above(3);
  });

  it("are on the page, and their names in the installed conventions", async () => {
    const page = await readFile("docs/telemetry.md", "utf8");
    const { delay, ...rest } = processMetrics;
    const names = [...Object.values(delay), ...Object.values(rest)];
    const known = Object.values(await import("@opentelemetry/semantic-conventions/incubating"));
    for (const name of names) expect(known, name).to.include(name);
    for (const name of Object.values(rest)) expect(page, name).to.include(`\`${name}\``);
    expect(page).to.include("`nodejs.eventloop.delay.*`");
  });
});
