// The backends that `npm run test:backends` asks: each is started on free ports of loopback and tells the tests where it is.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onPath, phoenix, traceBinaries, zipkinJar } from "./trace-binaries.mjs";

const top = new URL("..", import.meta.url).pathname;
const running = [];
const folders = [];

/**
 * By name: what starts it and resolves to the environment of its suite. Throws when a part of it is missing; `fetch` allows it to
 * be fetched or built first.
 */
export const backends = { jaeger, collector, zipkin, phoenix: startPhoenix, prometheus };

async function jaeger({ fetch }) {
  const { jaeger, otelcol } = await traceBinaries({ fetch });
  const [otlp, query, grpc] = await addresses(3);
  start(jaeger, ["--config", `${top}test/backends/jaeger.yaml`], {
    JAEGER_OTLP: otlp,
    JAEGER_QUERY: query,
    JAEGER_QUERY_GRPC: grpc,
  });
  const [, collected] = await Promise.all([
    ready(`http://${query}/api/v3/services`),
    startCollector(otelcol, { JAEGER_ENDPOINT: otlp, COLLECTOR_DECISION_AFTER_ROOT: "1s" }),
  ]);
  return { JAEGER_URL: `http://${query}`, ...collected };
}

/** The suite itself receives what this one sends, and starts it again to see what it kept. */
async function collector({ fetch }) {
  const { jaeger, otelcol } = await traceBinaries({ fetch });
  return {
    OTELCOL: otelcol,
    OTELCOL_CONFIG: `${top}otel-collector.yaml`,
    JAEGER: jaeger,
    JAEGER_CONFIG: `${top}test/backends/jaeger.yaml`,
  };
}

async function zipkin({ fetch }) {
  const jar = await zipkinJar({ fetch });
  const [address] = await addresses(1);
  start("java", ["-Xmx512m", "-jar", jar], { QUERY_PORT: address.split(":")[1] });
  await ready(`http://${address}/health`);
  return { ZIPKIN_URL: `http://${address}` };
}

async function startPhoenix({ fetch }) {
  const program = await phoenix({ fetch });
  const [http, grpc] = await addresses(2);
  start(program, ["serve"], {
    PHOENIX_HOST: "127.0.0.1",
    PHOENIX_PORT: http.split(":")[1],
    PHOENIX_GRPC_PORT: grpc.split(":")[1],
    PHOENIX_WORKING_DIR: folder(),
    PHOENIX_TELEMETRY_ENABLED: "false",
  });
  await ready(`http://${http}/healthz`);
  return { PHOENIX_URL: `http://${http}` };
}

/** Scrapes what the suite serves at an address that is settled before. */
async function prometheus() {
  const program = await onPath("prometheus");
  if (program === undefined) throw new Error("no prometheus on the PATH: apt-get install prometheus");
  const [web, target] = await addresses(2);
  const data = folder();
  const config = join(data, "prometheus.yaml");
  const jobs = [{ job_name: "venturi", static_configs: [{ targets: [target] }] }];
  const settings = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: [`${top}deploy/prometheus/alerts.yaml`],
  };
  writeFileSync(config, JSON.stringify({ ...settings, scrape_configs: jobs }));
  const storage = `--storage.tsdb.path=${join(data, "tsdb")}`;
  const exemplars = "--enable-feature=exemplar-storage";
  start(program, [`--config.file=${config}`, storage, `--web.listen-address=${web}`, exemplars], {});
  await ready(`http://${web}/-/ready`);
  return { PROMETHEUS_URL: `http://${web}`, SCRAPED_ADDRESS: target };
}

async function startCollector(otelcol, env) {
  const [grpc, http, prometheus, health, self] = await addresses(5);
  const [host, port] = self.split(":");
  start(otelcol, ["--config", `${top}otel-collector.yaml`], {
    COLLECTOR_GRPC: grpc,
    COLLECTOR_HTTP: http,
    COLLECTOR_PROMETHEUS: prometheus,
    COLLECTOR_HEALTH: health,
    COLLECTOR_SELF_HOST: host,
    COLLECTOR_SELF_PORT: port,
    COLLECTOR_SPAN_METRICS_INTERVAL: "1s",
    COLLECTOR_STORAGE: folder(),
    LOGS_ENDPOINT: `http://${health}/nowhere`,
    ...env,
  });
  await ready(`http://${health}/`);
  return {
    OTLP_URL: `http://${http}`,
    COLLECTOR_METRICS_URL: `http://${prometheus}/metrics`,
    COLLECTOR_SELF_URL: `http://${self}/metrics`,
  };
}

export async function stopAll() {
  for (const child of running.splice(0)) {
    child.removeAllListeners("exit");
    if (child.exitCode === null && child.signalCode === null && child.kill()) await once(child, "exit");
  }
  for (const each of folders) rmSync(each, { recursive: true, force: true, maxRetries: 3 });
}

function folder() {
  const made = mkdtempSync(join(tmpdir(), "venturi-backend-"));
  folders.push(made);
  return made;
}

function start(command, parameters, env) {
  const child = spawn(command, parameters, { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "pipe"] });
  let last = "";
  child.stderr.on("data", (data) => {
    last = (last + data).slice(-2048);
  });
  child.on("exit", (code) => {
    if (code) process.stderr.write(`${command} ended with ${code}:\n${last}\n`);
  });
  running.push(child);
}

/** A loaded machine takes a minute to start Python or Java. */
async function ready(url) {
  const until = Date.now() + 180_000;
  for (;;) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    if (Date.now() > until) throw new Error(`${url} did not answer within 3 minutes`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function addresses(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports.map((port) => `127.0.0.1:${port}`);
}
