// npm run test:jaeger: a Jaeger and a collector with the project's own otel-collector.yaml, and the tests that ask them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { traceBinaries } from "./trace-binaries.mjs";

const top = new URL("..", import.meta.url).pathname;
const running = [];

try {
  const { jaeger, otelcol } = await traceBinaries();
  const ports = await freePorts(7);
  const [jaegerOtlp, jaegerQuery, jaegerGrpc, grpc, http, prometheus, health] = ports.map(
    (port) => `127.0.0.1:${port}`,
  );
  start(jaeger, ["--config", `${top}test/jaeger/jaeger.yaml`], {
    JAEGER_OTLP: jaegerOtlp,
    JAEGER_QUERY: jaegerQuery,
    JAEGER_QUERY_GRPC: jaegerGrpc,
  });
  start(otelcol, ["--config", `${top}otel-collector.yaml`], {
    COLLECTOR_GRPC: grpc,
    COLLECTOR_HTTP: http,
    COLLECTOR_PROMETHEUS: prometheus,
    COLLECTOR_HEALTH: health,
    COLLECTOR_SPAN_METRICS_INTERVAL: "1s",
    JAEGER_ENDPOINT: jaegerOtlp,
  });
  await Promise.all([ready(`http://${jaegerQuery}/api/v3/services`), ready(`http://${health}/`)]);
  const mocha = spawn(
    process.execPath,
    [`${top}node_modules/mocha/bin/mocha.js`, "--no-config", "--timeout", "60000", "dist/test/jaeger/trace.suite.js"],
    {
      cwd: top,
      stdio: "inherit",
      env: {
        ...process.env,
        JAEGER_URL: `http://${jaegerQuery}`,
        OTLP_URL: `http://${http}`,
        COLLECTOR_METRICS_URL: `http://${prometheus}/metrics`,
      },
    },
  );
  const [code] = await once(mocha, "close");
  process.exitCode = code ?? 1;
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  for (const child of running) child.kill();
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

async function ready(url) {
  const until = Date.now() + 30_000;
  for (;;) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    if (Date.now() > until) throw new Error(`${url} did not answer within 30 s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}
