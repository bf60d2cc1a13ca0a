/** A server of 2026-07-28 over stdio; with `legacy` it speaks 2025-11-25 only and exits at any request before `initialize`. */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const [, , diary = "/dev/null", kind] = process.argv;
appendFileSync(diary, `started ${process.pid}\n`);
if (kind === "legacy") serveStrictly();
else if (kind === "silent") serveStrictly({ ignores: true });
else serveStdio(build, kind === "reject" ? { legacy: "reject" } : {});

function build(): McpServer {
  const server = new McpServer({ name: "modern", version: "1.0.0" });
  server.registerTool("era", { description: "Says which revision it is asked in" }, (context) => ({
    content: [{ type: "text", text: JSON.stringify(context.mcpReq._meta ?? {}) }],
  }));
  return server;
}

/** By hand, as old servers are: the first request must be `initialize`. */
function serveStrictly({ ignores = false } = {}): void {
  let isOpen = false;
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line) as { id?: number; method: string };
    if (!isOpen && method !== "initialize") {
      if (ignores) return;
      process.exit(1);
    }
    isOpen = true;
    if (id === undefined) return;
    const result =
      method === "initialize"
        ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "old", version: "1" } }
        : { tools: [{ name: "old", inputSchema: { type: "object" } }] };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
  });
}
