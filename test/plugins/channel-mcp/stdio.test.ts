import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect } from "chai";
import { testFolder } from "../../host/folder.ts";
import { replica } from "../channel-a2a/service.ts";
import { journals } from "../postgres/shared-journals.ts";
import { ask, configuration, pay, tasks } from "./service.ts";

const bin = fileURLToPath(new URL("../../../src/cli/bin.js", import.meta.url));

/** The library probes its own class on a second process. */
class SingleProcess extends StdioClientTransport {}

describe("agents as tools, whole processes", function () {
  this.timeout(180_000);
  const folder = testFolder();

  it("`venturi mcp` offers them over stdio, to clients of both revisions", async () => {
    const file = folder.write({ "venturi.yaml": configuration({ channels: {} }), "pay.mjs": pay });
    for (const mode of ["legacy", "auto"] as const) {
      const client = new Client(
        { name: "test", version: "1" },
        { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
      );
      client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { amount: 4 } }));
      const args = ["--no-warnings", bin, "mcp", "--config", file];
      await client.connect(new SingleProcess({ command: process.execPath, args, stderr: "ignore" }));
      expect(client.getNegotiatedProtocolVersion()).to.equal(mode === "auto" ? "2026-07-28" : "2025-11-25");
      expect((await client.listTools()).tools.map(({ name }) => name)).to.include("echo");
      const { content } = await client.callTool({ name: "payer", arguments: {} });
      expect(JSON.stringify(content)).to.contain("paid 4");
      const { tools: none } = await client.callTool({ name: "nobody", arguments: {} }).catch((thrown) => thrown);
      expect(none).to.equal(undefined);
      await client.close();
    }
  });

  for (const [engine, open] of Object.entries(journals))
    it(`${engine}: kill -9 in the middle of a task: the next poll, at another replica, goes on`, async () => {
      await using journal = await open();
      const file = folder.write({ "venturi.yaml": configuration({ journal: journal.entry }), "pay.mjs": pay });
      const [one, two] = await Promise.all([replica(file), replica(file)]);
      try {
        const params = { name: "slow", arguments: { input: "x" } };
        const { result } = await ask(one.url, "tools/call", params, { capabilities: tasks });
        expect(result.status).to.equal("working");
        one.child.kill("SIGKILL");
        await once(one.child, "exit");
        let state = await ask(two.url, "tasks/get", { taskId: result.taskId }, { capabilities: tasks });
        expect(state.result.status).to.equal("working");
        while (state.result.status === "working") {
          await new Promise((resolve) => setTimeout(resolve, 100));
          state = await ask(two.url, "tasks/get", { taskId: result.taskId }, { capabilities: tasks });
        }
        expect(state.result.status).to.equal("completed");
        expect(JSON.stringify(state.result.result)).to.contain("nine ten");
      } finally {
        for (const { child } of [one, two]) child.kill("SIGKILL");
      }
    });
});
