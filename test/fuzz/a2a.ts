import { assert } from "chai";
import fc from "fast-check";
import a2a from "../../plugins/a2a/index.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Tool } from "../../src/core/ports/tool.ts";
import { callTool, testPluginContext } from "../../src/testing.ts";
import { serveFetch } from "../plugins/mcp/http-server.ts";
import { inTime, type Target } from "./target.ts";
import { anyJson, hurt, wounds } from "./values.ts";

const done = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" }, artifacts: [] };
const states = [
  "TASK_STATE_WORKING",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_AUTH_REQUIRED",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_NONSENSE",
  7,
];
const part = fc.oneof(
  fc.record({ text: fc.oneof(fc.string({ unit: "binary" }), anyJson) }),
  fc.record({ data: anyJson, mediaType: anyJson }),
  fc.record({ raw: fc.string(), filename: anyJson }),
  fc.record({ url: anyJson }),
  anyJson,
);
/** Updates that are nearly right, in any order. */
const update = fc.oneof(
  fc.constant({ task: done }),
  fc.record({
    task: fc.record({
      id: fc.oneof(fc.constant("t"), anyJson),
      status: fc.record({
        state: fc.constantFrom(...states),
        message: fc.record({ role: fc.constant("ROLE_AGENT"), parts: fc.array(part, { maxLength: 3 }) }),
      }),
      artifacts: fc.array(fc.record({ artifactId: anyJson, parts: fc.array(part, { maxLength: 3 }) }), {
        maxLength: 3,
      }),
    }),
  }),
  fc.record({
    artifactUpdate: fc.record({
      artifact: fc.record({ artifactId: fc.constantFrom("a", "b"), parts: fc.array(part, { maxLength: 3 }) }),
      append: fc.oneof(fc.boolean(), anyJson),
    }),
  }),
  fc.record({ statusUpdate: fc.record({ status: fc.record({ state: fc.constantFrom(...states) }) }) }),
  fc.record({ message: fc.record({ parts: fc.oneof(fc.array(part), anyJson) }) }),
  anyJson,
);

const lie = fc.record({
  method: fc.constantFrom("card", "SendMessage", "SendStreamingMessage", "GetTask"),
  what: anyJson,
  updates: fc.array(update, { maxLength: 5 }),
  streams: fc.boolean(),
  cuts: fc.option(wounds, { nil: undefined }),
  status: fc.constantFrom(200, 200, 200, 202, 302, 401, 404, 500),
  type: fc.constantFrom("application/json", "text/event-stream", "text/html"),
});
type Lie = typeof lie extends fc.Arbitrary<infer T> ? T : never;

/** A hostile A2A agent: whatever it answers, the call ends in time, with a result or an error of ours. */
export async function openA2a(): Promise<{ target: Target; close(): Promise<void> }> {
  let told: Lie | undefined;
  const server = await serveFetch(async (request) => {
    const { id, method = "card" } = (await request.json().catch(() => ({}))) as { id?: unknown; method?: string };
    const isLie = told?.method === method;
    const interfaces = [{ url: server.url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
    const card = { name: "x", supportedInterfaces: interfaces, capabilities: { streaming: told?.streams === true } };
    const results: Record<string, unknown> = { SendMessage: { task: done }, GetTask: done };
    const [first] = told?.updates ?? [];
    const answer = isLie ? (first ?? told?.what) : results[method];
    const rpc = (result: unknown) => JSON.stringify({ jsonrpc: "2.0", id, result });
    const text =
      method === "card"
        ? JSON.stringify(isLie ? told?.what : card)
        : method === "SendStreamingMessage"
          ? (isLie ? (told?.updates ?? []) : [{ task: done }]).map((each) => `data: ${rpc(each)}\n\n`).join("")
          : rpc(answer);
    const body = Buffer.from(text ?? "");
    const sent = isLie && told?.cuts !== undefined ? hurt(body, told.cuts) : body;
    const usual = method === "SendStreamingMessage" ? "text/event-stream" : "application/json";
    return new Response(new Uint8Array(sent), {
      status: isLie ? (told?.status ?? 200) : 200,
      headers: { "content-type": isLie && method !== "SendStreamingMessage" ? (told?.type ?? usual) : usual },
    });
  });
  const target: Target = {
    name: "a2a agent",
    property: () =>
      fc.asyncProperty(lie, async (given) => {
        told = given;
        const options = a2a.options.parse({ url: server.url });
        try {
          const tool = (await inTime(a2a.create(options, testPluginContext({ name: "r" })))) as Tool;
          const ask = async () => ({ approved: true, answer: "yes" });
          await inTime(callTool(tool, { task: "go" }, { signal: AbortSignal.timeout(300), ask }));
        } catch (thrown) {
          assert.isTrue(VenturiError.isInstance(thrown), String(thrown));
        }
      }),
  };
  return { target, close: () => server.close() };
}
