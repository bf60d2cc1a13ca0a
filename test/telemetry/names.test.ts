import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { NotesInMemory } from "../../plugins/recall-memory/notes.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { serviceMetrics } from "../../src/core/ports/service-metrics.ts";
import { metrics, spans } from "../../src/telemetry/base/names.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { echo, wholeRun, wireProvider } from "./drive.ts";

/** What users' dashboards and alerts hold on to: changing a name here breaks them. */
const promised = {
  spans: [
    "invoke_agent",
    "venturi.round",
    "chat",
    "venturi.chunk",
    "venturi.accumulate",
    "execute_tool",
    "venturi.deliver",
    "venturi.journal.append",
    "venturi.stream",
    "venturi.backoff",
    "venturi.wait",
    "venturi.memory",
  ],
  metrics: [
    "gen_ai.client.operation.duration",
    "gen_ai.client.operation.time_to_first_chunk",
    "gen_ai.client.operation.time_per_output_chunk",
    "gen_ai.client.token.usage",
    "gen_ai.invoke_agent.duration",
    "gen_ai.invoke_agent.inference_calls",
    "gen_ai.invoke_agent.tool_calls",
    "gen_ai.execute_tool.duration",
    "venturi.chunks",
    "venturi.chunk.bytes",
    "venturi.accumulate.duration",
    "venturi.journal.append.duration",
    "venturi.deliver.duration",
    "venturi.memory.duration",
    "venturi.tool.calls",
    "venturi.tool.eager.saved",
    "venturi.wire.quirks",
    "venturi.request.unsent_fields",
    "venturi.cost.usd",
    "venturi.retries",
    "venturi.failovers",
    "venturi.retractions",
    "venturi.runs.active",
    "venturi.followers.active",
    "venturi.run.timing",
    "venturi.eventloop.stall",
    "venturi.telemetry.dropped",
  ],
};

describe("names", () => {
  it("are the promised ones", () => {
    expect(Object.values(spans)).to.have.members(promised.spans);
    expect(Object.values(metrics)).to.have.members(promised.metrics);
  });

  it("the Grafana dashboard shows every metric, and no other", async () => {
    const dashboard = await readFile("deploy/grafana/dashboards/venturi.json", "utf8");
    const queries = dashboard.replace(/"legendFormat": ".*"|\b(?:sum|max|min) by \([^)]*\)|label_values\(.*\)/g, "");
    const shown =
      queries
        .match(/\b(?:gen_ai|venturi|http)(?:_[a-z]+)+(?=[{[)])/g)
        ?.map((name) => name.replace(/(?:_bucket|_sum|_count)$/, "")) ?? [];
    const expected = [...Object.values(metrics), ...Object.keys(serviceMetrics)].map((name) =>
      name.replaceAll(".", "_"),
    );
    const plain = new Set(shown.map((name) => name.replace(/_total$/, "").replace(/_seconds$/, "")));
    expect([...plain]).to.have.members(expected);
  });

  it("the Grafana dashboard can be narrowed to an agent, a model and a tenant", async () => {
    const dashboard = JSON.parse(await readFile("deploy/grafana/dashboards/venturi.json", "utf8")) as {
      templating: { list: { name: string; definition: string }[] };
      panels: { title: string; targets: { expr: string }[] }[];
    };
    const variables = dashboard.templating.list.map(({ name }) => name);
    expect(variables).to.deep.equal(["agent", "model", "tenant"]);
    const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    for (const expr of expressions.filter((text) => /gen_ai_invoke_agent|venturi_run_timing/.test(text))) {
      expect(expr).to.include('gen_ai_agent_name=~"$agent"').and.to.include('venturi_tenant=~"$tenant"');
    }
    for (const expr of expressions.filter((text) => text.includes("gen_ai_client_"))) {
      expect(expr).to.include('gen_ai_request_model=~"$model"');
    }
  });

  it("every series that the dashboard and the alerts name is one that a run leaves, of a mishap, or of money", async () => {
    const telemetry = await createTelemetry(defaultSettings, { log: silentLog });
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 9, callEvery: 2 }));
    await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
    const memory = telemetry.memory("notes", new NotesInMemory());
    await memory.list({ tenant: "t", scope: "user", owner: "ana" }, { limit: 1 });
    let text = await telemetry.metrics();
    // Delays of the event loop are sampled; a machine that stalls has no sample for a while.
    do {
      await new Promise((resolve) => setTimeout(resolve, 50));
      text = await telemetry.metrics();
    } while (!text.includes("nodejs_eventloop_delay_p99_seconds"));
    await telemetry.close();
    const files = ["deploy/grafana/dashboards/venturi.json", "deploy/prometheus/alerts.yaml"];
    const named = await Promise.all(files.map((file) => readFile(file, "utf8")));
    const expressions = named.join("\n").replace(/\bby \([^)]*\)|, \w+\)/g, "");
    const series = new Set(expressions.match(/\b(?:gen_ai|venturi|nodejs|v8js|process)(?:_[a-z0-9]+)+(?=[{[)])/g));
    const mishaps =
      /^venturi_(?:retries|failovers|retractions|wire_quirks|request_unsent_fields|telemetry_dropped|cost_usd|budget_reached)_total$/;
    // Of a service: test/host/http/metrics.test.ts.
    const ofService = new RegExp(`^(?:${Object.keys(serviceMetrics).join("|").replaceAll(".", "_")})`);
    expect(series.size).to.be.above(30);
    for (const name of series)
      if (!mishaps.test(name) && !ofService.test(name)) expect(text, name).to.match(new RegExp(`^${name}[ {]`, "m"));
  });

  it("no id of a run, a session or a call is ever a metric's attribute", async () => {
    const telemetry = await createTelemetry(defaultSettings, { log: silentLog });
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 9, callEvery: 2 }));
    await wholeRun(telemetry, "run-secret-id", {
      provider,
      tool: telemetry.tool(echo),
      request: { session: "session-id" },
    });
    const text = await telemetry.metrics();
    expect(text).to.include("gen_ai_client_operation_duration_seconds_bucket");
    expect(text).to.include('gen_ai_agent_name="assistant"');
    expect(text).to.not.match(/run-secret-id|session-id|call-run|response-1/);
    await telemetry.close();
  });

  it("every series of the same attributes is one, however many runs there were", async () => {
    const telemetry = await createTelemetry(defaultSettings, { log: silentLog });
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 5 }));
    for (let run = 0; run < 20; run++)
      await wholeRun(telemetry, `run-${run}`, { provider, tool: telemetry.tool(echo) });
    const text = await telemetry.metrics();
    expect(text.match(/^gen_ai_invoke_agent_duration_seconds_count\{.*\} (\d+)$/gm)).to.have.length(1);
    expect(text).to.match(/^gen_ai_invoke_agent_duration_seconds_count\{.*\} 20$/m);
    expect(text).to.match(/^gen_ai_client_operation_time_per_output_chunk_seconds_count\{.*\} 80$/m);
    expect(text).to.match(/^venturi_chunk_bytes_total\{.*kind="text".*\} 10000$/m);
    expect(text).to.match(/^venturi_runs_active\{?.*\}? 0$/m);
    expect(text).to.match(/^venturi_run_timing_seconds_total\{.*part="providerStream".*\} 0\.2/m);
    await telemetry.close();
  });
});
