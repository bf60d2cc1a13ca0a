import { assert } from "chai";
import fc from "fast-check";
import mcp from "../../plugins/mcp/index.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { ToolSource } from "../../src/core/ports/tool.ts";
import { callTool, testPluginContext } from "../../src/testing.ts";
import { serveFetch } from "../plugins/mcp/http-server.ts";
import { inTime, type Target } from "./target.ts";
import { anyJson, hurt, wounds } from "./values.ts";

type Results = Readonly<Record<string, unknown>>;
const cached = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const tool = { name: "t", description: "d", inputSchema: { type: "object" } };
const honest: Results = {
  "server/discover": { ...cached, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } },
  "tools/list": { ...cached, tools: [tool] },
  "tools/call": { ...cached, content: [{ type: "text", text: "ok" }] },
};
const asking = {
  resultType: "input_required",
  inputRequests: { q: { method: "elicitation/create", params: { mode: "form", message: "?", requestedSchema: {} } } },
};

const lie = fc.record({
  method: fc.constantFrom("server/discover", "tools/list", "tools/call"),
  what: fc.oneof(anyJson, fc.constant(asking)),
  cuts: fc.option(wounds, { nil: undefined }),
  status: fc.constantFrom(200, 200, 200, 202, 401, 404, 500),
  type: fc.constantFrom("application/json", "text/event-stream", "text/html"),
});

interface Answer {
  readonly method: string;
  readonly what: unknown;
  readonly cuts: readonly { at: number; length: number; put: string }[] | undefined;
  readonly status: number;
  readonly type: string;
}

/** A hostile MCP server: whatever it answers, connecting and calling end in time, with a result or an error of ours. */
export async function openMcp(): Promise<{ target: Target; close(): Promise<void> }> {
  let lies: Answer | undefined;
  const server = await serveFetch(async (request) => {
    const { id, method } = (await request.json().catch(() => ({}))) as { id?: number; method?: string };
    if (id === undefined) return new Response(null, { status: 202 });
    const isLie = lies?.method === method;
    const result = isLie ? lies?.what : honest[method ?? ""];
    const text = JSON.stringify({ jsonrpc: "2.0", id, result });
    const isSse = isLie && lies?.type === "text/event-stream";
    const body = Buffer.from(isSse ? `data: ${text}\n\n` : text);
    const sent = isLie && lies?.cuts !== undefined ? hurt(body, lies.cuts) : body;
    const status = isLie ? (lies?.status ?? 200) : 200;
    return new Response(new Uint8Array(sent), {
      status,
      headers: { "content-type": isLie ? (lies?.type ?? "") : "application/json" },
    });
  });
  const target: Target = {
    name: "mcp server",
    property: () =>
      fc.asyncProperty(lie, async (told) => {
        lies = told as Answer;
        const options = mcp.options.parse({ url: server.url, connectTimeout: "300ms" });
        let source: (ToolSource & { close(): Promise<void> }) | undefined;
        try {
          source = (await inTime(mcp.create(options, testPluginContext({ name: "r" })))) as typeof source;
          const [first] = source?.list() ?? [];
          const signal = AbortSignal.timeout(500);
          if (first !== undefined) await inTime(callTool(first, {}, { signal }));
        } catch (thrown) {
          assert.isTrue(VenturiError.isInstance(thrown), String(thrown));
        } finally {
          await source?.close();
        }
      }),
  };
  return { target, close: () => server.close() };
}
