import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { expect } from "chai";
import mcp from "../../../plugins/mcp/index.ts";
import type { ToolSource } from "../../../src/core/ports/tool.ts";
import { callTool, testPluginContext, toolNamed } from "../../../src/testing.ts";
import { serveFetch } from "./http-server.ts";

const server = fileURLToPath(new URL("./modern-server.js", import.meta.url));
type Source = ToolSource & { close(): Promise<void> };
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

describe("mcp: revisions of the protocol", () => {
  let folder: string;
  let diary: string;
  const closing: { close(): Promise<void> }[] = [];
  const open = async (options: Record<string, unknown>) => {
    const given = mcp.options.parse({ backoff: { first: "10ms", most: "50ms" }, ...options });
    const source = (await mcp.create(given, testPluginContext({ name: "remote" }))) as Source;
    closing.unshift(source);
    return source;
  };
  const stdio = (kind = "", options = {}) =>
    open({ command: process.execPath, args: [server, diary, kind], ...options });
  const starts = () => readFileSync(diary, "utf8").trim().split("\n").length;
  const revisionOf = (source: Source) => source.list()[0]?.spanAttributes?.()["mcp.protocol.version"];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "venturi-mcp-"));
    diary = join(folder, "diary");
  });
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
    rmSync(folder, { recursive: true });
  });

  it("a stdio server of 2026 is started once and asked without a handshake", async () => {
    const source = await stdio();
    expect(revisionOf(source)).to.equal("2026-07-28");
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const { output } = await callTool(toolNamed(source, "remote_era"), {}, { traceparent });
    expect(JSON.parse(String(output))).to.include({ traceparent });
    expect(starts()).to.equal(1);
  });

  it("a stdio server of 2026 alone, and one of both revisions pinned to the older", async () => {
    expect(revisionOf(await stdio("reject"))).to.equal("2026-07-28");
    expect(revisionOf(await stdio("", { protocol: "2025-11-25" }))).to.equal("2025-11-25");
  });

  it("a stdio server that exits when asked before `initialize` is started again as an older one", async () => {
    const source = await stdio("legacy");
    expect(revisionOf(source)).to.equal("2025-06-18");
    expect(starts()).to.equal(2);
  });

  it("a stdio server that ignores the question is initialized on the same process", async () => {
    let source = await stdio("silent", { connectTimeout: "3s" }).catch(() => undefined);
    if (source === undefined) {
      // The machine is busy with something else.
      diary = join(folder, "again");
      source = await stdio("silent", { connectTimeout: "60s" });
    }
    expect(revisionOf(source)).to.equal("2025-06-18");
    expect(starts()).to.equal(1);
  });

  it("a server that speaks only older revisions is refused where 2026-07-28 is demanded", async () => {
    const failed = await stdio("legacy", { protocol: "2026-07-28" }).catch((thrown) => thrown);
    expect(failed.code).to.equal("unavailable");
  });

  it("over HTTP a server of 2026 gets the standard headers and no session, and its changes are heard", async () => {
    const names = ["first"];
    const seen: Request[] = [];
    const handler = createMcpHandler(() => {
      const one = new McpServer({ name: "modern", version: "1.0.0" });
      for (const name of names) one.registerTool(name, { description: name }, () => text(name));
      return one;
    });
    const http = await serveFetch((request) => {
      seen.push(request);
      return handler.fetch(request);
    });
    closing.push(http, handler);
    const source = await open({ url: http.url });
    expect(revisionOf(source)).to.equal("2026-07-28");
    const changed = () => new Promise<void>((resolve) => source.onChange?.(resolve));
    const second = changed();
    names.push("second");
    handler.notify.toolsChanged();
    await second;
    expect((await callTool(toolNamed(source, "remote_second"), {})).output).to.equal("second");
    const call = seen.find(({ headers }) => headers.get("mcp-method") === "tools/call");
    expect(call?.headers.get("mcp-name")).to.equal("second");
    expect(seen.some(({ headers }) => headers.has("mcp-session-id"))).to.equal(false);
    // The announcing stream breaks; what changed meanwhile is found.
    const third = changed();
    names.push("third");
    http.drop();
    await third;
    expect((await callTool(toolNamed(source, "remote_third"), {})).output).to.equal("third");
  });

  it("an output schema whose pattern backtracks does not hold up the service", async () => {
    const outputSchema = { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } };
    const tools = [{ name: "slow", inputSchema: { type: "object" }, outputSchema }];
    const http = await serveFetch(async (request) => {
      const { id, method } = (await request.json()) as { id: number; method: string };
      const results: Record<string, object> = {
        "server/discover": {
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: {} },
          ttlMs: 0,
          cacheScope: "private",
        },
        "tools/list": { tools, ttlMs: 0, cacheScope: "private" },
        "tools/call": { content: [], structuredContent: { text: `${"a".repeat(40)}!` } },
      };
      return Response.json({ jsonrpc: "2.0", id, result: { resultType: "complete", ...results[method] } });
    });
    closing.push(http);
    const { output } = await callTool(toolNamed(await open({ url: http.url }), "remote_slow"), {});
    expect(String(output)).to.contain("aaaa");
  });
});
