import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { assert } from "chai";
import fc from "fast-check";
import { WebSocket } from "ws";
import { silentLog } from "../../src/core/ports/log.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { frame, openRaw } from "../plugins/channel-websocket/raw-socket.ts";
import { pager } from "./pages.ts";
import type { Target } from "./target.ts";
import { anyBytes, anyJson, hurt, wounds } from "./values.ts";

const yaml = `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools: { calculator: { type: calculator } }
agents:
  assistant: { model: demo/small, tools: [calculator], limits: { time: 3s, maxToolRounds: 2 } }
  ${pager}: { model: demo/echo }
journal: { type: memory }
channels: { http: {}, openai: {}, anthropic: {}, ai-sdk: {}, ag-ui: {}, mcp: {}, a2a: {}, websocket: { messagesPerSecond: 5000 } }
server: { listen: 0 }
limits: { body: 200KiB, drain: 100ms }
telemetry: off
`;

export async function openFuzzed(folder: string): Promise<Service> {
  const configFile = join(folder, "service.yaml");
  writeFileSync(configFile, yaml);
  return openService({ configFile, env: {}, log: silentLog });
}

const paths = [
  "/v1/runs",
  "/v1/runs/run_x/cancel",
  "/v1/runs/run_x/messages",
  "/v1/runs/%00/approvals/x",
  "/v1/chat/completions",
  "/v1/responses",
  "/v1/completions",
  "/v1/conversations",
  "/v1/messages",
  "/v1/messages/count_tokens",
  "/ai-sdk/assistant",
  "/ag-ui/assistant",
  "/mcp",
  "/a2a/assistant",
];
const valid: readonly unknown[] = [
  { agent: "assistant", input: "go", metadata: { a: 1 }, limits: { maxToolRounds: 1 } },
  {
    model: "assistant",
    messages: [{ role: "user", content: "go" }],
    tools: [{ type: "function", function: { name: "f", parameters: {} } }],
  },
  { model: "assistant", input: "go", text: { format: { type: "json_schema", name: "x", schema: { type: "object" } } } },
  { model: "assistant", max_tokens: 9, messages: [{ role: "user", content: [{ type: "text", text: "go" }] }] },
  { id: "c", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "go" }] }] },
  {
    threadId: "t",
    runId: "r",
    messages: [{ id: "m", role: "user", content: "go" }],
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
  },
  { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "assistant", arguments: { input: "go" } } },
  { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "venturi://runs/x" } },
  { jsonrpc: "2.0", id: "ask:x", result: { action: "accept", content: {} } },
  { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
  ...["SendMessage", "SendStreamingMessage"].map((method) => ({
    jsonrpc: "2.0",
    id: 1,
    method,
    params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "go" }, { data: { approved: true } }] } },
  })),
  { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "run_x", historyLength: 3 } },
  { jsonrpc: "2.0", id: 1, method: "ListTasks", params: { contextId: "c", pageSize: 2, pageToken: "x" } },
  { jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id: "run_x" } },
  { type: "run", agent: "assistant", input: "go", id: "x" },
  { type: "subscribe", run: "run_x", after: 3 },
];
const body = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...valid), wounds)
      .map(([value, cuts]) => hurt(Buffer.from(JSON.stringify(value)), cuts)),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...valid), anyJson, fc.nat())
      .map(([value, other, at]) => Buffer.from(JSON.stringify(mixed(value, other, at)))),
  },
  anyJson.map((value) => Buffer.from(JSON.stringify(value) ?? "")),
  anyBytes,
);

/** One member of the value replaced by another value. */
function mixed(value: unknown, other: unknown, at: number): unknown {
  if (typeof value !== "object" || value === null) return other;
  const keys = Object.keys(value);
  const key = keys[at % Math.max(1, keys.length)] ?? "x";
  return { ...value, [key]: other };
}

export const http = (service: Service): Target => ({
  name: "http",
  property: () =>
    fc.asyncProperty(fc.constantFrom(...paths), body, async (path, bytes) => {
      const response = await fetch(service.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", "a2a-version": "1.0" },
        body: bytes,
        signal: AbortSignal.timeout(120_000),
      });
      const text = await response.text();
      assert.notEqual(response.status, 500, text.slice(0, 500));
    }),
});

export const query = (service: Service): Target => ({
  name: "query",
  property: () =>
    fc.asyncProperty(
      fc.constantFrom(
        "/v1/runs",
        "/v1/sessions/x",
        "/v1/runs/x",
        "/v1/runs/x/events",
        "/v1/audit",
        "/v1/approvals",
        "/v1/models",
        "/v1/responses/x",
      ),
      fc.dictionary(
        fc.constantFrom("cursor", "limit", "after", "status", "agent", "session", "x"),
        fc.oneof(fc.string({ unit: "binary" }), fc.integer().map(String)),
      ),
      async (path, asked) => {
        const words = new URLSearchParams(asked);
        const response = await fetch(`${service.url}${path}?${words}`, { signal: AbortSignal.timeout(120_000) });
        const text = await response.text();
        assert.notEqual(response.status, 500, text.slice(0, 500));
      },
    ),
});

export const socket = (service: Service): Target => ({
  name: "websocket",
  property: () =>
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(0, 1, 1, 1, 1, 2, 3, 8, 9, 10, 15), body), { maxLength: 6 }),
      fc.array(fc.nat({ max: 255 }), { maxLength: 4 }),
      async (frames, rest) => {
        const raw = await openRaw(service.url);
        raw.resume();
        for (const [opcode, payload] of frames)
          raw.write(frame(opcode, payload.subarray(0, opcode >= 8 ? 120 : 60_000)));
        raw.write(Buffer.from(rest));
        await sleep(2);
        raw.destroy();
        const other = new WebSocket(`${service.url.replace("http", "ws")}/ws`);
        await once(other, "open");
        other.send('{"type":"ping","id":"still here"}');
        const [answer] = await once(other, "message");
        assert.include(String(answer), "still here");
        other.terminate();
      },
    ),
});
