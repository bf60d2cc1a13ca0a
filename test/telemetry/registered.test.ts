import { spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ClientRequest } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { context, propagation, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { isTracingSuppressed } from "@opentelemetry/core";
import { TracerProvider } from "@opentelemetry/sdk-trace";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { openVenturi } from "../../src/index.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { echo, wholeRun, wireProvider } from "./drive.ts";
import { named } from "./named.ts";
import { Receiver } from "./receiver.ts";

const api = JSON.stringify(import.meta.resolve("@opentelemetry/api"));

/** As a user writes them: spans through the API, whatever SDK is behind it. */
const tools = `
import { trace } from ${api};
const parameters = { type: "object", properties: {} };
const work = (name) => trace.getTracer("mine").startActiveSpan(name, async (span) => {
  await new Promise((resolve) => setImmediate(resolve));
  trace.getTracer("mine").startSpan(name + " inside").end();
  span.end();
});
export const plain = { description: "calculator: evaluates an expression", parameters, effect: "pure",
  async call() { await new Promise((resolve) => setImmediate(resolve)); await work("plain work"); return "1"; } };
export const pieces = { description: "calculator: evaluates an expression", parameters, effect: "pure",
  async *call() { yield "a piece"; await work("pieces work"); return "1"; } };
`;

describe("telemetry that is registered with the API", () => {
  let folder: string;
  let receiver: Receiver;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "venturi-"));
    await writeFile(join(folder, "tools.mjs"), tools);
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    receiver = await Receiver.start();
  });
  afterEach(() => receiver.stop());

  async function opened(endpoint: string, tool = "plain") {
    const configFile = join(folder, `${tool}.yaml`);
    await writeFile(
      configFile,
      `version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools: { own: { type: module, path: tools.mjs, export: ${tool} } }
agents: { assistant: { model: demo/small, instructions: "You help.", tools: [own] } }
journal: { type: memory }
channels: {}
telemetry: { otlp: "${endpoint}", logs: { level: silent } }
`,
    );
    return openVenturi({ configFile, env: {} });
  }

  const sending = (to: Receiver) =>
    createTelemetry(
      { ...defaultSettings, otlp: { endpoint: to.endpoint, headers: {} } },
      { log: silentLog, closeLimit: 60_000 },
    );

  it("exports make no spans themselves, also with an instrumented HTTP client", async () => {
    const suppressed: boolean[] = [];
    // Other tests of this process may still be sending theirs.
    const instrumented = (message: unknown) => {
      const { request } = message as { request: ClientRequest }; // as Node documents this channel
      if (String(request.getHeader("host")).endsWith(`:${receiver.port}`))
        suppressed.push(isTracingSuppressed(context.active()));
    };
    subscribe("http.client.request.start", instrumented);
    const telemetry = await sending(receiver);
    await wholeRun(telemetry, "run-1", {
      provider: telemetry.provider("demo", "openai", wireProvider({ chunks: 10, perRead: 1 })),
      tool: telemetry.tool(echo),
    });
    await telemetry.flush();
    unsubscribe("http.client.request.start", instrumented);
    await telemetry.close();
    expect(receiver.spans).to.not.have.length(0);
    expect(suppressed).to.not.have.length(0);
    expect(suppressed).to.not.include(false);
  });

  for (const tool of ["plain", "pieces"]) {
    it(`a span that a tool makes is below its execution, in the run's trace (${tool})`, async () => {
      const venturi = await opened(receiver.endpoint, tool);
      await venturi.agent("assistant").execute("Use own for 6 * 7");
      await venturi.close();
      const [execution] = named(receiver.spans, "execute_tool own");
      const [work] = named(receiver.spans, `${tool} work`);
      const [inside] = named(receiver.spans, `${tool} work inside`);
      expect(execution, "the model did not call the tool").to.not.equal(undefined);
      expect(work?.traceId).to.equal(execution?.traceId);
      expect(work?.parentSpanId).to.equal(execution?.spanId);
      expect(inside?.parentSpanId).to.equal(work?.spanId);
    });
  }

  it("a span that a provider's client makes is below the generation", async () => {
    const telemetry = await sending(receiver);
    const provider = telemetry.provider("demo", "openai", {
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      async *stream() {
        await new Promise((resolve) => setImmediate(resolve));
        trace.getTracer("client").startSpan("POST").end();
        yield [{ type: "done", finish: "stop" }];
      },
    });
    await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
    await telemetry.close();
    const [chat] = named(receiver.spans, "chat small");
    expect(named(receiver.spans, "POST")[0]?.parentSpanId).to.equal(chat?.spanId);
  });

  it("a run that a program starts in a span of its own is below that span", async () => {
    const venturi = await opened(receiver.endpoint);
    await trace.getTracer("program").startActiveSpan("request", async (span) => {
      await venturi.agent("assistant").execute("hello");
      span.end();
    });
    await venturi.close();
    const [request] = named(receiver.spans, "request");
    expect(named(receiver.spans, "invoke_agent assistant")[0]?.parentSpanId).to.equal(request?.spanId);
  });

  it("trace context goes out by the API's propagator", async () => {
    const telemetry = await sending(receiver);
    const carrier: Record<string, string> = {};
    const seen: (string | undefined)[] = [];
    const tool = telemetry.tool({
      ...echo,
      async call(input, call) {
        propagation.inject(context.active(), carrier);
        seen.push(call.traceparent);
        return input;
      },
    });
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 1 }));
    await wholeRun(telemetry, "run-1", { provider, tool });
    await telemetry.close();
    expect(carrier.traceparent).to.be.a("string").and.to.equal(seen[0]);
  });

  it("of two in a process the first is registered and each sends to its own collector; closing makes room", async () => {
    const other = await Receiver.start();
    const first = await sending(receiver);
    const second = await sending(other);
    for (const telemetry of [first, second]) {
      const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 2 }));
      await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
    }
    trace.getTracer("mine").startSpan("mine 1").end();
    await first.close();
    trace.getTracer("mine").startSpan("mine 2").end();
    await second.close();
    const third = await sending(other);
    trace.getTracer("mine").startSpan("mine 3").end();
    await third.close();
    for (const { spans } of [receiver, other]) {
      expect(named(spans, "invoke_agent assistant")).to.have.length(1);
      expect(named(spans, "venturi.chunk")).to.have.length(2);
    }
    const mine = (spans: Receiver["spans"]) => spans.map(({ name }) => name).filter((name) => name.startsWith("mine"));
    expect([mine(receiver.spans), mine(other.spans)]).to.deep.equal([["mine 1"], ["mine 3"]]);
    await other.stop();
  });

  it("what a program has registered itself stays, during and after", async () => {
    const own = new TracerProvider();
    trace.setGlobalTracerProvider(own);
    const before = trace.getTracer("mine");
    const telemetry = await sending(receiver);
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 2 }));
    await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
    const during = trace.getTracer("mine");
    await telemetry.close();
    const after = trace.getTracer("mine");
    trace.disable();
    expect([during === before, after === before]).to.deep.equal([true, true]);
    expect(named(receiver.spans, "invoke_agent assistant")).to.have.length(1);
    expect(context.active()).to.equal(ROOT_CONTEXT);
  });

  it("spans say which instance and host they are of, and not how the process was started", async () => {
    const telemetry = await sending(receiver);
    const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 2 }));
    await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
    await telemetry.close();
    const [agent] = named(receiver.spans, "invoke_agent assistant");
    const [chunk] = named(receiver.spans, "venturi.chunk");
    expect(agent?.resource).to.include.keys("service.instance.id", "host.name", "os.type");
    expect(agent?.resource).to.not.have.any.keys("process.command_args", "process.command");
    expect(chunk?.resource).to.deep.equal(agent?.resource);
  });

  it("OTEL_TRACES_EXPORTER=console prints every span, chunks included, without any endpoint", async () => {
    const script = `
      import { createTelemetry } from ${JSON.stringify(new URL("../../src/index.js", import.meta.url).href)};
      import { echo, wholeRun, wireProvider } from ${JSON.stringify(new URL("drive.js", import.meta.url).href)};
      const telemetry = await createTelemetry({}, {});
      const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 2 }));
      await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
      await telemetry.close();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, OTEL_TRACES_EXPORTER: "console", OTEL_SERVICE_NAME: "shop" },
    });
    const [out] = await Promise.all([text(child.stdout), once(child, "close")]);
    const names = [...out.matchAll(/^ {2}name: '(.*)'/gm)].map(([, name]) => name);
    expect(names).to.include.members(["invoke_agent assistant", "venturi.round", "chat small", "execute_tool echo"]);
    expect(names.filter((name) => name === "venturi.chunk")).to.have.length(2);
    expect(out).to.contain("'service.name': 'shop'");
  });

  it("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT limits the attributes of our spans, too", async () => {
    const script = `
      import { createTelemetry } from ${JSON.stringify(new URL("../../src/index.js", import.meta.url).href)};
      import { echo, wholeRun, wireProvider } from ${JSON.stringify(new URL("drive.js", import.meta.url).href)};
      const telemetry = await createTelemetry({ otlp: { endpoint: ${JSON.stringify(receiver.endpoint)}, headers: {} } }, {});
      const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 2 }));
      await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
      await telemetry.close();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: "3" },
    });
    await once(child, "close");
    for (const name of ["invoke_agent assistant", "chat small", "execute_tool echo"]) {
      const [span] = named(receiver.spans, name);
      expect(Object.keys(span?.attributes ?? {}), name).to.have.length(3);
    }
  });

  it("OTEL_TRACES_EXPORTER=zipkin sends whole microseconds, which are all that Zipkin takes", async () => {
    const sent: { name: string; timestamp: number; duration: number }[] = [];
    const zipkin = createServer(async (request, response) => {
      sent.push(...JSON.parse(await text(request)));
      response.writeHead(202).end();
    }).listen(0, "127.0.0.1");
    await once(zipkin, "listening");
    const { port } = zipkin.address() as AddressInfo; // it listens on a port, not on a pipe
    const script = `
      import { createTelemetry } from ${JSON.stringify(new URL("../../src/index.js", import.meta.url).href)};
      import { echo, wholeRun, wireProvider } from ${JSON.stringify(new URL("drive.js", import.meta.url).href)};
      const telemetry = await createTelemetry({}, {});
      const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 50 }));
      await wholeRun(telemetry, "run-1", { provider, tool: telemetry.tool(echo) });
      await telemetry.close();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "inherit", "inherit"],
      env: {
        ...process.env,
        OTEL_TRACES_EXPORTER: "zipkin",
        OTEL_EXPORTER_ZIPKIN_ENDPOINT: `http://127.0.0.1:${port}/api/v2/spans`,
      },
    });
    await once(child, "close");
    zipkin.close();
    expect(sent.filter(({ name }) => name === "venturi.chunk")).to.have.length(50);
    for (const { name, timestamp, duration } of sent) {
      expect([Number.isInteger(timestamp), Number.isInteger(duration)], name).to.deep.equal([true, true]);
    }
  });
});
