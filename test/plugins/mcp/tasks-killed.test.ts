import { once } from "node:events";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { testFolder } from "../../host/folder.ts";
import { replica } from "../channel-a2a/service.ts";
import { configuration, pay, start } from "../channel-mcp/service.ts";

describe("mcp: a task of the server outlives our process", function () {
  this.timeout(180_000);
  const folder = testFolder();

  it("kill -9 in the middle of it: whoever goes on with the run finds the task, which was begun once", async () => {
    const scenarios = [
      {
        name: "slow",
        advance: "round",
        turns: [{ text: "one two three four five six seven eight nine ten", pace: 300 }],
      },
    ];
    const providers = { demo: { type: "simulator", wire: "anthropic", pace: 0, scenarios } };
    const agents = { slow: { model: "demo/slow" } };
    const server = await start(
      folder.write({ "server.yaml": configuration({ providers, agents, tools: {} }), "pay.mjs": pay }),
    );
    const turns = [{ calls: [{ name: "remote_slow", arguments: { input: "x" } }] }, { text: "{{results}}" }];
    const file = folder.write({
      "caller.yaml": configuration({
        providers: { demo: { ...providers.demo, scenarios: [{ name: "caller", advance: "round", turns }] } },
        tools: { remote: { type: "mcp", url: `${server.url}/mcp`, tasks: true } },
        agents: { caller: { model: "demo/caller", tools: ["remote"] } },
        channels: { http: {} },
        journal: { type: "sqlite", path: "./caller.db", lease: "1s" },
      }),
    });
    const [one, two] = await Promise.all([replica(file), replica(file)]);
    try {
      const body = JSON.stringify({ agent: "caller", input: "go" });
      const headers = { "content-type": "application/json", prefer: "respond-async" };
      const started = await fetch(`${one.url}/v1/runs`, { method: "POST", headers, body });
      const { run } = (await started.json()) as { run: string };
      while (!hasTask(join(dirname(file), "caller.db"))) await sleep(20);
      one.child.kill("SIGKILL");
      await once(one.child, "exit");
      let state: { status?: string; output?: string } = {};
      while (state.status !== "finished" && state.status !== "failed") {
        await sleep(100);
        state = (await (await fetch(`${two.url}/v1/runs/${run}`)).json()) as typeof state;
      }
      expect(state.output).to.contain("nine ten");
      expect((await server.host.runs.list({})).runs.map(({ outcome }) => outcome)).to.deep.equal(["finished"]);
    } finally {
      for (const { child } of [one, two]) child.kill("SIGKILL");
      await server.drain("interrupt");
    }
  });
});

/** Killed before its task is noted, the call could not be found again, and a person would be asked about it. */
function hasTask(file: string): boolean {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  const notes = database.prepare("SELECT value FROM key_values WHERE space = 'mcp-task'").all();
  database.close();
  return notes.some(({ value }) => String(value).includes('"task"'));
}
