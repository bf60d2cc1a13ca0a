import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace";
import { expect } from "chai";
import WebSocket from "ws";
import { silentLog } from "../../../src/core/ports/log.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { createTelemetry, defaultSettings } from "../../../src/telemetry/index.ts";

const config = `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
agents:
  assistant: { model: demo/small }
  broken: { model: "demo/small!status=400" }
journal: { type: memory }
server: { listen: 127.0.0.1:0 }
channels: { http: {}, openai: {}, anthropic: {}, ag-ui: {}, ai-sdk: {}, websocket: {} }
`;

interface Asked {
  readonly path: string;
  readonly body?: unknown;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

const chat = (stream: boolean, model = "assistant") => ({ model, stream, messages: [{ role: "user", content: "hi" }] });
const agUi = {
  threadId: "t1",
  runId: "r1",
  state: {},
  messages: [{ id: "1", role: "user", content: "hi" }],
  tools: [],
  context: [],
  forwardedProps: {},
};
const aiSdk = { id: "c1", messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "hi" }] }] };
const stream = { accept: "text/event-stream" };

/** Every way to start a run. */
const starts: Record<string, Asked> = {
  "http, JSON": { path: "/v1/runs", body: { agent: "assistant", input: "hi" } },
  "http, JSON, failed": { path: "/v1/runs", body: { agent: "broken", input: "hi" } },
  "http, SSE": { path: "/v1/runs", body: { agent: "assistant", input: "hi" }, headers: stream },
  "http, 202": { path: "/v1/runs", body: { agent: "assistant", input: "hi" }, headers: { prefer: "respond-async" } },
  "chat, JSON": { path: "/openai/v1/chat/completions", body: chat(false) },
  "chat, SSE": { path: "/openai/v1/chat/completions", body: chat(true) },
  "chat, SSE, refused": { path: "/openai/v1/chat/completions", body: chat(true, "broken") },
  "chat, JSON, failed": { path: "/openai/v1/chat/completions", body: chat(false, "broken") },
  "completions, JSON": { path: "/openai/v1/completions", body: { model: "assistant", prompt: "hi" } },
  "completions, SSE": { path: "/openai/v1/completions", body: { model: "assistant", prompt: "hi", stream: true } },
  "responses, JSON": { path: "/openai/v1/responses", body: { model: "assistant", input: "hi" } },
  "responses, SSE": { path: "/openai/v1/responses", body: { model: "assistant", input: "hi", stream: true } },
  "responses, background": {
    path: "/openai/v1/responses",
    body: { model: "assistant", input: "hi", background: true },
  },
  "messages, JSON": { path: "/anthropic/v1/messages", body: { ...chat(false), max_tokens: 100 } },
  "messages, SSE": { path: "/anthropic/v1/messages", body: { ...chat(true), max_tokens: 100 } },
  "messages, SSE, refused": { path: "/anthropic/v1/messages", body: { ...chat(true, "broken"), max_tokens: 100 } },
  "AG-UI": { path: "/ag-ui/assistant", body: agUi },
  "AI SDK": { path: "/ai-sdk/assistant", body: aiSdk },
};

/** Every way to read or steer a run that is there. */
const later: Record<string, (run: string) => Asked> = {
  "the run": (run) => ({ path: `/v1/runs/${run}` }),
  "its events, SSE": (run) => ({ path: `/v1/runs/${run}/events` }),
  "its events, SSE, resumed": (run) => ({ path: `/v1/runs/${run}/events`, headers: { "last-event-id": "2" } }),
  "its events, SSE, at the end": (run) => ({ path: `/v1/runs/${run}/events?after=100000` }),
  "its events, a page": (run) => ({ path: `/v1/runs/${run}/events`, headers: { accept: "application/json" } }),
  "its events, a later page": (run) => ({
    path: `/v1/runs/${run}/events?after=3`,
    headers: { accept: "application/json" },
  }),
  "its spans": (run) => ({ path: `/v1/runs/${run}/trace` }),
  "its reasons": (run) => ({ path: `/v1/runs/${run}/why` }),
  cancel: (run) => ({ path: `/v1/runs/${run}/cancel`, body: {} }),
  "a stored response": (run) => ({ path: `/openai/v1/responses/resp_${run}` }),
  "a stored response, SSE": (run) => ({ path: `/openai/v1/responses/resp_${run}?stream=true` }),
  "a stored response, SSE, resumed": (run) => ({
    path: `/openai/v1/responses/resp_${run}?stream=true&starting_after=3`,
  }),
  "its input": (run) => ({ path: `/openai/v1/responses/resp_${run}/input_items` }),
};

describe("the traceparent of a reply", () => {
  let folder: string;
  const memory = new InMemorySpanExporter();
  let service: Service;
  before(async () => {
    const telemetry = await createTelemetry(defaultSettings, {
      log: silentLog,
      spanProcessors: [new SimpleSpanProcessor({ exporter: memory })],
    });
    folder = await mkdtemp(join(tmpdir(), "venturi-"));
    const configFile = join(folder, "venturi.yaml");
    await writeFile(configFile, config);
    service = await openService({ configFile, env: {}, log: silentLog, telemetry });
  });
  after(async () => {
    await service.drain();
    await rm(folder, { recursive: true });
  });

  async function ask({
    path,
    body,
    method,
    headers = {},
  }: Asked): Promise<{ run: string; trace: string | null; status: number }> {
    const response = await fetch(service.url + path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.text();
    const run = response.headers.get("x-venturi-run") ?? "";
    expect(run, `${path} names no run: ${response.status}`).to.match(/^run_/);
    return { run, trace: response.headers.get("traceparent"), status: response.status };
  }

  /** The root span of the run; of a fork or a resumed run, each of them. */
  async function rootsOf(run: string): Promise<string[]> {
    for await (const _ of service.host.runs.follow(run)); // to its end
    await service.host.telemetry.flush();
    const roots = memory
      .getFinishedSpans()
      .filter(({ name, attributes }) => name.startsWith("invoke_agent") && attributes["venturi.run.id"] === run);
    return roots.map((root) => {
      const { traceId, spanId } = root.spanContext();
      return `00-${traceId}-${spanId}-01`;
    });
  }

  for (const [name, asked] of Object.entries(starts)) {
    it(`is the run's: ${name}`, async () => {
      const { run, trace } = await ask(asked);
      expect([trace]).to.deep.equal(await rootsOf(run));
    });

    it(`is the run's, in the caller's trace: ${name}`, async () => {
      const traceId = "0af7651916cd43dd8448eb211c80319c";
      const headers = { ...asked.headers, traceparent: `00-${traceId}-b7ad6b7169203331-01` };
      const { run, trace } = await ask({ ...asked, headers });
      expect([trace]).to.deep.equal(await rootsOf(run));
      expect(trace).to.include(traceId);
    });

    it(`is the first run's when it is asked for again: ${name}`, async () => {
      const headers = { ...asked.headers, "idempotency-key": name };
      const first = await ask({ ...asked, headers });
      const again = await ask({ ...asked, headers });
      expect(again.run).to.equal(first.run);
      expect([again.trace]).to.deep.equal(await rootsOf(first.run));
    });
  }

  for (const [name, asked] of Object.entries(later)) {
    it(`is the run's, later: ${name}`, async () => {
      const { run } = await ask({ path: "/openai/v1/responses", body: { model: "assistant", input: "hi" } });
      const roots = await rootsOf(run);
      const headers = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
      for (const more of [{}, headers]) {
        const one = asked(run);
        expect([(await ask({ ...one, headers: { ...one.headers, ...more } })).trace]).to.deep.equal(roots);
      }
    });
  }

  it("is the fork's own, when it is made and whenever it is read", async () => {
    const { run } = await ask(starts["http, JSON"] as Asked);
    const forked = await ask({ path: `/v1/runs/${run}/fork`, body: { after: 1 } });
    expect(forked.run).not.to.equal(run);
    const roots = await rootsOf(forked.run);
    expect([forked.trace]).to.deep.equal(roots);
    expect(roots).not.to.deep.equal(await rootsOf(run));
    for (const name of ["the run", "its events, SSE", "its events, SSE, resumed", "its events, a page"]) {
      expect([(await ask(later[name]?.(forked.run) as Asked)).trace], name).to.deep.equal(roots);
    }
  });

  it("is in the message that begins a run on a WebSocket", async () => {
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`);
    const began = await new Promise<{ run: string; traceparent: string }>((resolve, reject) => {
      socket.on("open", () => socket.send(JSON.stringify({ type: "run", agent: "assistant", input: "hi" })));
      socket.on("error", reject);
      socket.on("message", (data) => {
        const message = JSON.parse(String(data)) as { type: string; run: string; traceparent: string };
        if (message.type === "stream_start") resolve(message);
      });
    });
    expect([began.traceparent]).to.deep.equal(await rootsOf(began.run));
    socket.terminate();
  });

  it("does not tell the trace of a run that the caller may not see", async () => {
    const response = await fetch(`${service.url}/v1/runs/run_nothing/why`);
    expect(response.status).to.equal(404);
    expect(response.headers.get("x-venturi-run")).to.equal(null);
  });
});
