import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { costOfAll } from "../../../src/core/run/costs.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { openVenturi } from "../../../src/index.ts";
import { createTelemetry, defaultSettings } from "../../../src/telemetry/index.ts";
import { allSse } from "../../sse.ts";
import { testFolder } from "../folder.ts";

/** A boss calls a clerk: generations of two priced models, and one that fails first. */
const config = (prices: string) => `
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - name: boss
        match: { text: "^the books" }
        turns:
          - { calls: [{ name: clerk, arguments: { task: add it up } }], usage: { inputTokens: 1000, outputTokens: 10 } }
          - { text: done, usage: { inputTokens: 2000, outputTokens: 20 } }
      - name: clerk
        match: { text: "^add it up" }
        turns: [{ text: 391 it is, usage: { inputTokens: 300, outputTokens: 3 } }]
tools: { clerk: { type: agent, agent: clerk } }
agents:
  boss: { model: demo/large, tools: [clerk] }
  clerk: { model: demo/small }
prices: ${prices}
channels: { http: {}, openai: {}, anthropic: {}, ai-sdk: {}, ag-ui: {} }
journal: { type: memory }
server: { listen: 0 }
`;
const prices = "{ demo/large: { input: 10, output: 100 }, demo/small: { input: 1, output: 10 } }";
const own = (3000 * 10 + 30 * 100) / 1e6;
const ofClerk = (300 * 1 + 3 * 10) / 1e6;
const total = own + ofClerk;

describe("what a run cost", () => {
  const folder = testFolder();
  let service: Service;
  afterEach(() => service.drain());
  const open = async (text: string) => {
    service = await openService({
      configFile: folder.write({ "venturi.yaml": text }),
      env: {},
      log: silentLog,
      telemetry: await createTelemetry(defaultSettings, { log: silentLog }),
    });
  };
  const post = (path: string, body: object) =>
    fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const asked = { role: "user", content: "the books" };

  it("is in its events, its view, its digest, its root span and the metrics; own and total apart", async () => {
    await open(config(prices));
    const started = await post("/v1/runs", { agent: "boss", input: "the books" });
    const view = (await started.json()) as Record<string, unknown> & { run: string };
    expect([view.cost, view.totalCost], JSON.stringify(view)).to.deep.equal([own, total]);
    const events: RunEvent[] = [];
    for await (const batch of service.host.runs.follow(view.run)) events.push(...batch);
    const costs = events.flatMap((event) => (event.type === "generation.finished" ? [event.cost] : []));
    expect(costs).to.deep.equal([0.011, 0.022]);
    const called = events.find((event) => event.type === "tool.finished");
    expect(called).to.deep.include({
      cost: ofClerk,
      usage: { inputTokens: 300, outputTokens: 3, cacheReadTokens: 0, reasoningTokens: 0 },
    });
    const { digest } = await service.host.runs.get(view.run);
    expect([digest?.cost, digest?.totalCost]).to.deep.equal([own, total]);
    const trace = JSON.stringify(service.host.telemetry.trace(view.run));
    expect(trace).to.contain(`{"key":"venturi.run.cost","value":{"doubleValue":${own}}}`);
    expect(trace).to.contain(`{"key":"venturi.run.total_cost","value":{"doubleValue":${total}}}`);
    const metrics = await service.host.telemetry.metrics();
    const counted = [...metrics.matchAll(/^venturi_cost_usd_total\{.*\} (.*)$/gm)].map(([, value]) => Number(value));
    expect(counted.sort()).to.deep.equal([ofClerk, own].sort());
  });

  it("is in every reply that has a place for usage, with what called agents cost", async () => {
    await open(config(prices));
    const json = async (path: string, body: object) =>
      (await post(path, body)).json() as Promise<{ usage: { cost: number } }>;
    const frames = async (path: string, body: object) => allSse(await post(path, { ...body, stream: true }));
    const chat = { model: "boss", messages: [asked] };
    expect((await json("/openai/v1/chat/completions", chat)).usage.cost).to.equal(total);
    expect((await json("/openai/v1/responses", { model: "boss", input: "the books" })).usage.cost).to.equal(total);
    expect((await json("/anthropic/v1/messages", { ...chat, max_tokens: 100 })).usage.cost).to.equal(total);
    const streams = [
      await frames("/openai/v1/chat/completions", { ...chat, stream_options: { include_usage: true } }),
      await frames("/openai/v1/responses", { model: "boss", input: "the books" }),
      await frames("/anthropic/v1/messages", { ...chat, max_tokens: 100 }),
    ];
    for (const stream of streams) expect(JSON.stringify(stream)).to.contain(`\\"cost\\":${total}`);
  });

  it("is left out everywhere when a price is not known, and never zero", async () => {
    await open(config("{ demo/large: { input: 10, output: 100 } }"));
    const view = (await (await post("/v1/runs", { agent: "boss", input: "the books" })).json()) as {
      run: string;
      cost: number;
    };
    expect(view.cost).to.equal(own);
    expect(view).not.to.have.property("totalCost");
    const reply = await (await post("/openai/v1/chat/completions", { model: "boss", messages: [asked] })).json();
    expect((reply as { usage: object }).usage).not.to.have.property("cost");
  });
});

describe("the library's result", () => {
  const folder = testFolder();

  it("has the cost, and with called agents the total", async () => {
    const file = folder.write({ "venturi.yaml": config(prices).replace(/^channels.*$/m, "channels: {}") });
    const venturi = await openVenturi({ configFile: file, env: {}, log: silentLog });
    try {
      const { run } = await venturi.runs.start({ agent: "boss", input: { text: "the books" } });
      const result = await (await venturi.get(run)).result();
      expect([result.cost, result.totalCost, costOfAll({ ...result, spent: [] })]).to.deep.equal([own, total, own]);
    } finally {
      await venturi.close();
    }
  });
});
