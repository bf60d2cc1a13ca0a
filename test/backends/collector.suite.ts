import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Receiver } from "../telemetry/receiver.ts";
import { eventually, openScene, play, type Scene, type Seen } from "./scene.ts";

/** Run by `npm run test:backends`, which says where the programs are. */
const {
  OTELCOL: otelcol = "",
  OTELCOL_CONFIG: config = "",
  JAEGER: jaeger = "",
  JAEGER_CONFIG: jaegerConfig = "",
} = process.env;

async function address(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number }; // of a listening TCP server
  await once(server.close(), "close");
  return `127.0.0.1:${port}`;
}

const answers = (url: string) =>
  eventually(url, async () => {
    const response = await fetch(url).catch(() => undefined);
    return response?.ok ? response : undefined;
  });

/** Keeps a run of which nothing is remarkable only if told to: here it is told to keep none. */
describe("the collector with otel-collector.yaml", () => {
  const running: ChildProcess[] = [];
  const storage = mkdtempSync(join(tmpdir(), "venturi-otelcol-"));
  const at: Record<string, string> = {};
  let logs: Receiver;
  let scene: Scene;
  let slow: Seen;

  const start = (program: string, parameters: string[], env: Record<string, string>) => {
    const child = spawn(program, parameters, { env: { ...process.env, ...env }, stdio: "ignore" });
    running.push(child);
    return child;
  };
  const startCollector = async () => {
    const [host = "", port = ""] = at.self?.split(":") ?? [];
    const child = start(otelcol, ["--config", config], {
      COLLECTOR_GRPC: at.grpc ?? "",
      COLLECTOR_HTTP: at.http ?? "",
      COLLECTOR_PROMETHEUS: at.prometheus ?? "",
      COLLECTOR_HEALTH: at.health ?? "",
      COLLECTOR_SELF_HOST: host,
      COLLECTOR_SELF_PORT: port,
      COLLECTOR_SPAN_METRICS_INTERVAL: "1s",
      COLLECTOR_DECISION_AFTER_ROOT: "1s",
      COLLECTOR_KEEP_PERCENT: "0",
      COLLECTOR_SLOW_MS: "3500",
      COLLECTOR_STORAGE: storage,
      JAEGER_ENDPOINT: at.jaegerOtlp ?? "",
      LOGS_ENDPOINT: logs.endpoint,
    });
    await answers(`http://${at.health}/`);
    return child;
  };
  const own = async (pattern: RegExp): Promise<number | undefined> => {
    const text = await (await fetch(`http://${at.self}/metrics`)).text();
    const value = pattern.exec(text)?.[1];
    return value === undefined ? undefined : Number(value);
  };
  const tracesIn = async (): Promise<Set<string>> => {
    const query = new URLSearchParams({
      "query.service_name": "venturi",
      "query.start_time_min": new Date(Date.now() - 600_000).toISOString(),
      "query.start_time_max": new Date(Date.now() + 60_000).toISOString(),
      "query.num_traces": "50",
    });
    const response = await fetch(`http://${at.jaegerQuery}/api/v3/traces?${query}`).catch(() => undefined);
    const text = response?.ok ? await response.text() : "";
    return new Set(Array.from(text.matchAll(/"traceId":"(\w+)"/g), ([, id = ""]) => id));
  };

  before(async () => {
    for (const name of ["grpc", "http", "prometheus", "health", "self", "jaegerOtlp", "jaegerQuery", "jaegerGrpc"]) {
      at[name] = await address();
    }
    logs = await Receiver.start();
  });
  after(async () => {
    await scene?.close();
    for (const child of running) if (child.exitCode === null && child.kill()) await once(child, "exit");
    await logs.stop();
    rmSync(storage, { recursive: true, force: true });
  });

  it("takes traces, metrics and logs while Jaeger is down, and samples by what happened", async () => {
    const collector = await startCollector();
    scene = await openScene(`http://${at.http}`);
    slow = await play(scene.host, "slow");
    await scene.host.telemetry.flush();
    const sampled = /^otelcol_processor_tail_sampling_global_count_traces_sampled\{decision="sampled".*\} (\d+)$/m;
    const queued = /^otelcol_exporter_queue_size\{.*data_type="traces".*\} (\d+)$/m;
    await eventually("three kept traces in the queue", async () =>
      (await own(sampled)) === 3 && ((await own(queued)) ?? 0) > 0 ? true : undefined,
    );
    collector.kill("SIGKILL");
    await once(collector, "exit");
  });

  it("after being killed has kept what it took: failed, slow and retried runs reach Jaeger, the rest does not", async () => {
    start(jaeger, ["--config", jaegerConfig], {
      JAEGER_OTLP: at.jaegerOtlp ?? "",
      JAEGER_QUERY: at.jaegerQuery ?? "",
      JAEGER_QUERY_GRPC: at.jaegerGrpc ?? "",
    });
    await answers(`http://${at.jaegerQuery}/api/v3/services`);
    await startCollector();
    const found = await eventually("the three traces", async () => {
      const traces = await tracesIn();
      return [scene.failed, scene.retried, slow].every(({ trace }) => traces.has(trace)) ? traces : undefined;
    });
    expect([...found]).to.not.include(scene.good.trace);
  });

  it("has no id on a series but job and instance, counts all runs, and links them", async () => {
    await scene.host.telemetry.flush();
    const accept = "application/openmetrics-text;version=1.0.0";
    const text = await eventually("the metrics", async () => {
      const told = await (await fetch(`http://${at.prometheus}/metrics`, { headers: { accept } })).text();
      return /^gen_ai_invoke_agent_duration_seconds_count\{/m.test(told) ? told : undefined;
    });
    const series = text.split("\n").filter((line) => /^(?:gen_ai|venturi|process|nodejs|v8js)_/.test(line));
    expect(series.length).to.be.above(20);
    for (const line of series)
      expect(line.split(" # ")[0]).to.not.match(/host_id|service_instance_id|process_pid|run_0/);
    expect(text).to.match(/^target_info\{.*host_name=/m);
  });

  it("sends logs to the configured address, and reports on itself", async () => {
    const line = await eventually("the failed run's line", async () =>
      logs.logs.find((record) => JSON.stringify(record).includes("run failed")),
    );
    expect(JSON.stringify(line)).to.include(scene.failed.run);
    expect(await own(/^otelcol_process_uptime\S* (\S+)$/m)).to.be.above(0);
  });
});
