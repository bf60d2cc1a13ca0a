import assert from "node:assert/strict";
import fastify, { type FastifyInstance } from "fastify";
import type { ChannelHost } from "venturi/plugin";
import { unlimited } from "venturi/plugin/channel";
import { ScriptedRuns, testPluginContext } from "venturi/testing";
import plugin from "./index.ts";

describe("plain-text", () => {
  const server = fastify();
  const runs = new ScriptedRuns({
    echo: async ({ request, emit }) => {
      emit({ type: "text.delta", round: 1, text: `you said ${request.input.text}` });
      return undefined;
    },
    broken: async () => {
      throw new Error("out of order");
    },
  });
  const unused = () => {
    throw new Error("this channel does not inspect the service");
  };
  const host: ChannelHost<FastifyInstance> = {
    server,
    log: testPluginContext().log,
    limits: { slowReader: 1_000_000, keepAlive: 15_000, firstOutput: 5_000, body: 1_000_000, stalled: 30_000 },
    caller: () => ({ id: "test", tenant: "default", agents: undefined }),
    permit: () => {},
    demand: () => {},
    scopes: () => [],
    inspect: {
      ...{ service: unused, series: unused, decode: unused, mask: unused, fixture: unused },
      ...{ datasets: unused, addToDataset: unused },
    },
    runsFor: () => runs,
    account: () => unlimited,
    trace: async () => undefined,
  };

  let url = "";
  before(async () => {
    const channel = await plugin.create(plugin.options.parse({}), testPluginContext());
    await channel.mount(host);
    url = await server.listen({ port: 0, host: "127.0.0.1" });
  });
  after(() => server.close());

  const ask = (agent: string, body: string) =>
    fetch(`${url}/ask/${agent}`, { method: "POST", body, headers: { "content-type": "text/plain" } });

  it("answers text with text, and names the run", async () => {
    const response = await ask("echo", "hello");
    assert.equal(await response.text(), "you said hello\n");
    assert.ok(response.headers.get("x-venturi-run"));
  });

  it("refuses an empty question and a failed run with an error", async () => {
    assert.notEqual((await ask("echo", "")).status, 200);
    assert.notEqual((await ask("broken", "hello")).status, 200);
  });
});
