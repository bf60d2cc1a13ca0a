// A run in Jaeger's own page, as docs/images/trace.png shows it. Built from source Jaeger has no page, so its UI is built, too:
//   git clone --branch v1.76.0 https://github.com/jaegertracing/jaeger-ui && cd jaeger-ui && npm ci && npm run build
//   node scripts/jaeger-picture.mjs jaeger-ui/packages/jaeger-ui/build docs/images/trace.png
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { backends, stopAll } from "./backends.mjs";
import { findBrowser } from "./test-console.mjs";

const [ui, picture = "trace.png"] = process.argv.slice(2);
if (ui === undefined) throw new Error("usage: node scripts/jaeger-picture.mjs BUILD_OF_JAEGER_UI [PICTURE]");
process.env.VENTURI_BROWSER = findBrowser() ?? "";
process.env.JAEGER_UI = resolve(ui);
const { openHost } = await import("../dist/src/host/open.js");
const { openBrowser } = await import("../dist/test/console/browser.js");

const folder = mkdtempSync(join(tmpdir(), "venturi-jaeger-"));
try {
  const { JAEGER_URL: jaeger, OTLP_URL: otlp } = await backends.jaeger({ fetch: true });
  const traceId = await runAgent(otlp);
  await eventually(async () => (await fetch(`${jaeger}/api/traces/${traceId}`)).ok);
  const browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  await page.goto(`${jaeger}/trace/${traceId}`);
  await page.waitForSelector(".span-row");
  await page.waitForTimeout(1_000);
  await page.screenshot({ path: picture });
  await browser.close();
} finally {
  await stopAll();
  rmSync(folder, { recursive: true });
}

/** The run of test/backends/jaeger.suite.ts: two tools, every chunk a span. */
async function runAgent(otlp) {
  const configFile = join(folder, "venturi.yaml");
  writeFileSync(
    configFile,
    `version: 1
providers: { demo: { type: simulator, pace: 15 } }
tools: { clock: { type: clock }, calculator: { type: calculator } }
agents: { assistant: { model: demo/small, instructions: "You help.", tools: [clock, calculator] } }
journal: { type: memory }
channels: {}
telemetry: { otlp: "${otlp}", logs: { level: silent } }
`,
  );
  const host = await openHost({ configFile });
  try {
    const input = { text: "What is 12 * 12, and what time is it in Berlin?" };
    const { run } = await host.runs.start({ agent: "assistant", input });
    let trace = "";
    for await (const batch of host.runs.follow(run, { channel: "picture" }))
      for (const event of batch) if (event.type === "run.started") trace = event.trace ?? "";
    return trace.split("-")[1];
  } finally {
    await host.close();
  }
}

async function eventually(isTrue) {
  for (let tries = 0; !(await isTrue()); tries++) {
    if (tries === 300) throw new Error("Jaeger does not have the trace after 30 s");
    await new Promise((resolved) => setTimeout(resolved, 100));
  }
}
