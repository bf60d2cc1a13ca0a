import { expect } from "chai";
import { Connection } from "../../../plugins/mcp/connection.ts";
import { McpOptions } from "../../../plugins/mcp/options.ts";
import { testPluginContext } from "../../../src/testing.ts";
import { serveFetch } from "./http-server.ts";

describe("an MCP server that answers nothing else while it works on a call", () => {
  it("is not given up when another call fails, and its answer arrives", async () => {
    const busy = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "x", version: "1" },
      },
      "tools/list": { tools: ["work", "fail"].map((name) => ({ name, inputSchema: { type: "object" } })) },
      "tools/call": { content: [{ type: "text", text: "worked" }] },
      ping: {},
    };
    const server = await serveFetch(async (request) => {
      const { id, method = "", params } = JSON.parse((await request.text()) || "{}");
      if (id === undefined) return new Response(null, { status: request.method === "POST" ? 202 : 405 });
      if (params?.name === "fail")
        return Response.json({ jsonrpc: "2.0", id, error: { code: -32602, message: "it failed" } });
      if (method === "tools/call") begun.resolve();
      if (method === "tools/call" || method === "ping") await busy.promise;
      return Response.json({ jsonrpc: "2.0", id, result: results[method] });
    });
    const options = McpOptions.parse({ url: server.url, protocol: "2025-11-25" });
    const connection = new Connection(options, testPluginContext({ name: "remote" }), { redact: (text) => text });
    await connection.start();
    const { signal } = new AbortController();
    const call = (name: string) =>
      connection.use({ signal }, (client) => client.callTool({ name })).catch((thrown: Error) => thrown.message);
    const working = call("work");
    await begun.promise;
    expect(await call("fail")).to.include("it failed"); // After it was asked, in vain, whether it is still there.
    busy.resolve();
    expect(await working).to.deep.include(results["tools/call"]);
    await connection.close();
    await server.close();
  });
});
