import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { openHost } from "../../../src/host/open.ts";
import { testFolder } from "../../host/folder.ts";

const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));

describe("a call of an MCP server's tool", function () {
  this.timeout(180_000);
  const folder = testFolder();

  it("has a span that names the protocol, and the result of each parallel call in the next generation", async () => {
    const turns = [
      { calls: ["one", "two"].map((message) => ({ name: "remote_echo", arguments: { message } })) },
      { text: "both are there" },
    ];
    const config = {
      providers: { demo: { type: "simulator", pace: 0, scenarios: [{ name: "s", match: { model: "*" }, turns }] } },
      tools: { remote: { type: "mcp", command: process.execPath, args: [everything, "stdio"], tools: ["echo"] } },
      agents: { assistant: { model: "demo/m", tools: ["remote"] } },
      journal: { type: "memory" },
      channels: {},
      telemetry: { content: "full" },
    };
    const host = await openHost({
      configFile: folder.write({ "venturi.yaml": JSON.stringify(config) }),
      log: silentLog,
    });
    try {
      const { run } = await host.runs.start({ agent: "assistant", input: { text: "go" } });
      for await (const _batch of host.runs.follow(run));
      const document = JSON.stringify(host.telemetry.trace(run));
      const { resourceSpans } = JSON.parse(document) as {
        resourceSpans: {
          scopeSpans: { spans: { name: string; attributes: { key: string; value: { stringValue: string } }[] }[] }[];
        }[];
      };
      const spans = resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
      const [tool] = spans.filter(({ name }) => name === "execute_tool remote_echo");
      const told = Object.fromEntries(tool?.attributes.map(({ key, value }) => [key, value.stringValue]) ?? []);
      expect(told).to.include({ "mcp.method.name": "tools/call", "network.transport": "pipe" });
      expect(told["mcp.protocol.version"]).to.match(/^\d{4}-/);
      const chat = spans.filter(({ name }) => name === "chat m").at(-1);
      const input = chat?.attributes.find(({ key }) => key === "gen_ai.input.messages")?.value.stringValue ?? "[]";
      const results = (JSON.parse(input) as { role: string; parts: { response?: string }[] }[]).filter(
        ({ role }) => role === "tool",
      );
      expect(results.map(({ parts }) => parts.map(({ response }) => response))).to.deep.equal([
        ["Echo: one"],
        ["Echo: two"],
      ]);
    } finally {
      await host.close();
    }
  });
});
