import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { testFolder } from "../host/folder.ts";

const configuration = JSON.stringify({
  version: 1,
  providers: {
    demo: {
      type: "simulator",
      wire: "anthropic",
      scenarios: [
        { name: "slow", turns: [{ text: "one two three four five six seven eight nine ten", pace: 60_000 }] },
      ],
    },
  },
  agents: { slow: { model: "demo/slow", description: "Takes its time" } },
  journal: { type: "sqlite", path: "./venturi.db" },
  channels: { http: {}, websocket: {}, openai: {}, anthropic: {}, "ag-ui": {}, "ai-sdk": {}, a2a: {}, mcp: {} },
  limits: { drain: "1ms" },
  server: { listen: 0 },
  telemetry: { logs: { level: "silent" } },
});

const messages = [{ role: "user", content: "x" }];
const call = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "slow", arguments: { input: "x" } } };
const sent = { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }] };

/** What clients get of a run that the process released, to go on in another one. */
describe("a run that goes on elsewhere is not taken for a complete answer", () => {
  const folder = testFolder();
  let service: Service;
  beforeEach(async () => {
    service = await openService({ configFile: folder.write({ "venturi.yaml": configuration }), log: silentLog });
  });

  /** The whole response; `cut` when it broke off. The process is stopped once the run has begun. */
  async function released(path: string, body: object, headers: Record<string, string> = {}) {
    const accept = "application/json, text/event-stream";
    const answer = fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept, ...headers },
      body: JSON.stringify(body),
    }).then(async (response) => {
      const text = { status: response.status, body: "", cut: false };
      try {
        for await (const piece of response.body ?? []) text.body += Buffer.from(piece).toString();
      } catch {
        text.cut = true;
      }
      return text;
    });
    const { runs } = service.host;
    const rows = async () => (await runs.list({})).runs;
    while ((await rows())[0]?.state !== "running" || ((await rows())[0]?.head ?? 0) < 3)
      await new Promise(setImmediate);
    await service.drain("release");
    return await answer;
  }

  it("the native stream is cut, so that its client resumes", async () => {
    expect(await released("/v1/runs", { agent: "slow", input: "x" })).to.include({ status: 200, cut: true });
  });

  const errors: Record<string, [path: string, body: object, ends: RegExp]> = {
    "Chat Completions": [
      "/openai/v1/chat/completions",
      { model: "slow", stream: true, messages },
      /"error":\{[^\n]*"shutting_down"[^\n]*\n\n$/,
    ],
    Responses: ["/openai/v1/responses", { model: "slow", stream: true, input: "x" }, /response\.failed|"type":"error"/],
    Messages: ["/anthropic/v1/messages", { model: "slow", stream: true, max_tokens: 9, messages }, /event: error\n/],
    "AI SDK": [
      "/ai-sdk/slow",
      { id: "c", messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "x" }] }] },
      /"type":"error","errorText":"the service stopped/,
    ],
    "AG-UI": [
      "/ag-ui/slow",
      { threadId: "t", runId: "r", messages: [{ id: "1", ...messages[0] }], tools: [], context: [] },
      /"type":"RUN_ERROR"[^\n]*"shutting_down"/,
    ],
    A2A: [
      "/a2a/slow",
      { jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message: sent } },
      /"error":\{[^\n]*SHUTTING_DOWN/,
    ],
  };
  for (const [name, [path, body, ends]] of Object.entries(errors)) {
    it(`a stream of ${name} ends with an error`, async () => {
      const got = await released(path, body);
      expect(got.body).to.match(ends);
    });
  }

  it("a plain request gets an error at once instead of a cut connection", async () => {
    const got = await released("/openai/v1/chat/completions", { model: "slow", messages });
    expect(got).to.include({ status: 503, cut: false });
    expect(got.body).to.contain("shutting_down");
  });

  const chat = { model: "slow", messages };
  for (const stream of [true, false]) {
    const asked = (headers: Record<string, string>) =>
      released("/openai/v1/chat/completions", { ...chat, stream }, headers);
    /** The signals of the only run. The service has closed its journal. */
    const sentTo = () => {
      const database = new DatabaseSync(folder.path("venturi.db"), { readOnly: true });
      const kinds = database.prepare("SELECT kind FROM signals").all();
      database.close();
      return kinds.map(({ kind }) => kind);
    };

    it(`a ${stream ? "streamed" : "plain"} run whose client cannot come back to it is cancelled`, async () => {
      await asked({});
      expect(sentTo()).to.deep.equal(["cancel"]);
    });

    it(`a ${stream ? "streamed" : "plain"} run that the same request finds again goes on`, async () => {
      await asked({ "idempotency-key": "k" });
      expect(sentTo()).to.deep.equal([]);
    });
  }

  it("a WebSocket is told of no end: its client follows the run again", async () => {
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`);
    const types: string[] = [];
    socket.addEventListener("message", ({ data }) => types.push(JSON.parse(String(data)).type));
    const over = new Promise((resolve) => socket.addEventListener("close", resolve, { once: true }));
    await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
    socket.send(JSON.stringify({ type: "run", id: "1", agent: "slow", input: "x" }));
    const { runs } = service.host;
    while (((await runs.list({})).runs[0]?.head ?? 0) < 3) await new Promise(setImmediate);
    await Promise.all([service.drain("release"), over]);
    expect(types).to.not.be.empty;
    expect(types).to.not.include("stream_error");
  });

  it("the stream of an MCP call is cut for a client that can come back to it", async () => {
    expect(await released("/mcp", call, { "mcp-session-id": "s.p" })).to.include({ status: 200, cut: true });
  });

  it("an MCP call without a stream is told why", async () => {
    const got = await released("/mcp", call, { "mcp-session-id": "s.p", accept: "application/json" });
    expect([got.status, JSON.parse(got.body).error.data.code]).to.deep.equal([503, "shutting_down"]);
  });

  it("a blocking A2A message is answered with its task, for another replica to be asked about", async () => {
    const body = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: sent } };
    expect(JSON.parse((await released("/a2a/slow", body)).body)).to.have.nested.property("result.task.status.state");
  });
});
