import { once } from "node:events";
import { expect } from "chai";
import WebSocket from "ws";
import agUi from "../../plugins/channel-ag-ui/index.ts";
import aiSdk from "../../plugins/channel-ai-sdk/index.ts";
import anthropic from "../../plugins/channel-anthropic/index.ts";
import http from "../../plugins/channel-http/index.ts";
import openai from "../../plugins/channel-openai/index.ts";
import websocket from "../../plugins/channel-websocket/index.ts";
import { endless, serve, type TestService } from "../service.ts";

const messages = [{ role: "user", content: "hi" }];

/** Each channel's request for a stream, and what its wire says of a run that is silent. */
const channels: Readonly<Record<string, { path: string; body: unknown; beat: RegExp }>> = {
  http: {
    path: "/v1/runs",
    body: { agent: "endless", input: "hi" },
    beat: /^event: heartbeat\ndata: \{"type":"heartbeat","run":"[^"]+","at":\d+\}$/,
  },
  "OpenAI's chat": {
    path: "/openai/v1/chat/completions",
    body: { model: "endless", stream: true, messages },
    beat: /"choices":\[\{"index":0,"delta":\{\},"logprobs":null,"finish_reason":null\}\]/,
  },
  "OpenAI's Responses": {
    path: "/openai/v1/responses",
    body: { model: "endless", stream: true, input: "hi" },
    beat: /"type":"response.in_progress"/,
  },
  anthropic: {
    path: "/anthropic/v1/messages",
    body: { model: "endless", stream: true, max_tokens: 9, messages },
    beat: /^event: ping\ndata: \{"type":"ping"\}$/,
  },
  "ai-sdk": {
    path: "/ai-sdk/endless",
    body: { id: "c", messages: [{ id: "u", role: "user", parts: [{ type: "text", text: "hi" }] }] },
    beat: /"type":"data-heartbeat".*"transient":true/,
  },
  "ag-ui": {
    path: "/ag-ui/endless",
    body: {
      threadId: "t",
      runId: "r",
      state: {},
      messages: [{ id: "u", ...messages[0] }],
      tools: [],
      context: [],
      forwardedProps: {},
    },
    beat: /"type":"CUSTOM","name":"heartbeat"/,
  },
};

describe("a run that is silent", () => {
  let service: TestService;
  before(async () => {
    const plugins = [http, openai, anthropic, aiSdk, agUi, websocket];
    service = await serve({
      scripts: { endless },
      channels: plugins.map((plugin) => ({ plugin })),
      limits: { keepAlive: 20, firstOutput: 20 },
    });
  });
  after(() => service.close());

  for (const [name, { path, body, beat }] of Object.entries(channels)) {
    it(`says so again and again on ${name}`, async () => {
      const response = await fetch(service.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify(body),
      });
      expect(response.status).to.equal(200);
      let text = "";
      const beats = () => text.split("\n\n").filter((frame) => beat.test(frame)).length;
      const decoder = new TextDecoder();
      for await (const bytes of response.body ?? []) {
        text += decoder.decode(bytes, { stream: true });
        if (beats() >= 3) break;
      }
      expect(beats()).to.be.at.least(3);
      await service.runs.cancel(response.headers.get("x-venturi-run") ?? "");
    });
  }

  it("says so again and again on the WebSocket", async () => {
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`);
    await once(socket, "open");
    const seen: Record<string, unknown>[] = [];
    const done = new Promise<void>((resolve) => {
      socket.on("message", (data) => {
        seen.push(JSON.parse(String(data)) as Record<string, unknown>);
        if (seen.filter(({ type }) => type === "heartbeat").length === 3) resolve();
      });
    });
    socket.send(JSON.stringify({ type: "run", agent: "endless", input: "hi" }));
    await done;
    const run = seen[0]?.run;
    for (const beat of seen.filter(({ type }) => type === "heartbeat")) {
      expect(beat).to.have.all.keys("type", "run", "at");
      expect(beat.run).to.equal(run);
    }
    await service.runs.cancel(String(run));
    socket.close();
  });
});
