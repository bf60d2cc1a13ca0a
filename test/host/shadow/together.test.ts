import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { shadowTenant } from "../../../src/core/run/shadow.ts";
import { openHost } from "../../../src/host/open.ts";

/** A model that answers `slow` once it is let go, and everything else at once; the order in which it was asked. */
async function vendor() {
  const asked: string[] = [];
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += String(piece);
    });
    request.on("end", async () => {
      const { model } = JSON.parse(body) as { model: string };
      asked.push(model);
      if (model === "slow") await gate;
      const choice = { index: 0, message: { role: "assistant", content: "yes" }, finish_reason: "stop" };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ id: "1", choices: [choice], usage: { prompt_tokens: 9, completion_tokens: 3 } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, asked, letGo, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

describe("shadows while live runs are active", () => {
  it("wait until sixteen can be made together, or until the process is idle", async () => {
    const { server, asked, letGo, baseUrl } = await vendor();
    const folder = mkdtempSync(join(tmpdir(), "venturi-shadow-"));
    const model = (name: string) => ({ chain: [`up/${name}`] });
    const config = {
      version: 1,
      providers: { up: { type: "openai", apiKey: "x", baseUrl } },
      models: { main: { ...model("live"), shadow: { model: "up/other", share: 1 } }, slow: model("slow") },
      agents: { a: { model: "main" }, slow: { model: "slow" } },
      journal: { type: "memory" },
      channels: {},
    };
    writeFileSync(join(folder, "venturi.yaml"), JSON.stringify(config));
    const host = await openHost({ configFile: join(folder, "venturi.yaml"), env: {}, log: silentLog });
    const ask = async (agent: string) => {
      const { run } = await host.runs.start({ agent, input: { text: "hi" } });
      for await (const _ of host.runs.follow(run));
    };
    const notes = async (wanted: number) => {
      while (((await host.journal.keyValues?.list("notes")) ?? []).length < wanted)
        await new Promise((resolve) => setTimeout(resolve, 2));
    };
    try {
      const slow = ask("slow");
      while (!asked.includes("slow")) await new Promise((resolve) => setTimeout(resolve, 2));
      for (let count = 0; count < 15; count++) await ask("a");
      expect(asked.filter((name) => name === "other")).to.deep.equal([]);
      expect((await host.journal.list({ tenant: shadowTenant })).runs).to.deep.equal([]);
      await ask("a");
      await notes(16);
      await ask("a");
      letGo();
      await slow;
      await notes(17);
      expect(asked.filter((name) => name === "other")).to.have.length(17);
      // The last of them end while a batch is under way.
      await Promise.all(Array.from({ length: 20 }, () => ask("a")));
      await notes(37);
    } finally {
      await host.close();
      server.close();
      server.closeAllConnections();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
