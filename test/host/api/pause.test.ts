import { createHash } from "node:crypto";
import { once } from "node:events";
import { expect } from "chai";
import WebSocket from "ws";
import { type ClientError, type RunEvent, VenturiClient } from "../../../src/client/client.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { venturi } from "../../cli/venturi.ts";
import { heard } from "../../heard.ts";
import { testFolder } from "../folder.ts";

const hash = (key: string) => createHash("sha256").update(key).digest("hex");
const config = `
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - { name: slow, turns: [{ calls: [{ name: wait, arguments: {} }] }, { text: [Done.] }] }
tools: { wait: { type: module, path: ./wait.mjs } }
agents:
  assistant: { model: demo/small }
  worker: { model: demo/slow, tools: [wait] }
server:
  listen: 0
  auth:
    keys:
      - { id: boss, sha256: ${hash("boss")}, tenants: all, act: all, may: [start, see, steer, inspect, metrics] }
      - { id: acme, sha256: ${hash("acme")}, may: [start, see, steer] }
      - { id: reader, sha256: ${hash("reader")}, tenants: all, act: all, may: [see] }
channels: { http: {}, websocket: {} }
journal: { type: sqlite, path: ./runs.db }
limits: { drain: 100ms }
telemetry: { logs: { level: silent } }
`;
/** Waits for the test to say so. */
const wait = `export default {
  description: "Waits", parameters: { type: "object" }, effect: "pure",
  call: () => new Promise((resolve) => { globalThis.letGo = () => resolve("waited"); globalThis.began?.(); }),
};`;
const shared = globalThis as { letGo?: () => void; began?: (() => void) | undefined };

describe("pausing over the API", () => {
  const folder = testFolder();
  let service: Service | undefined;
  let url = "";
  beforeEach(async () => {
    const configFile = folder.write({ "venturi.yaml": config, "wait.mjs": wait });
    service = await openService({ configFile, log: silentLog });
    url = service.url ?? "";
  });
  afterEach(async () => {
    await service?.drain();
    service = undefined;
  });
  const client = (apiKey: string, more: object = {}) =>
    new VenturiClient({ url, apiKey, retry: { attempts: 1 }, ...more });
  const post = async (path: string, key: string, body: unknown = {}) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return [response.status, await response.json()] as const;
  };
  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => "it worked",
      (thrown: ClientError) => thrown.code,
    );
  /** A run of `worker` whose tool waits. */
  const working = async (from = client("acme")) => {
    const began = new Promise<void>((resolve) => {
      shared.began = resolve;
    });
    const run = await from.start({ agent: "worker", input: "go" });
    await began;
    return run;
  };
  const until = async (events: AsyncIterable<RunEvent>, type: RunEvent["type"]): Promise<RunEvent> => {
    for await (const event of events) if (event.type === type) return event;
    throw new Error(`there was no ${type}`);
  };

  /** Only what takes a good part of the time is told, so the pause has to grow first. */
  const told = async (run: string, words: string): Promise<void> => {
    const call = { op: "run.why", path: `/v1/runs/${run}/why` };
    for (;;) {
      const { cause, summary } = await client("acme").request<{ cause: string; summary: string }>(call);
      if (cause === "paused" && summary.includes(words)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  it("a run is paused and resumed by the client, and its time is called paused", async () => {
    const run = await working();
    await run.pause({ reason: "until the morning" });
    await heard(run.id);
    shared.letGo?.();
    expect(await until(run.events(), "run.paused")).to.include({ reason: "until the morning", by: "acme" });
    await told(run.id, "it was paused by acme: until the morning");
    await run.resume();
    const end = await until(run.events(), "run.finished");
    expect(end.type === "run.finished" && end.timing.paused).to.be.greaterThan(0);
    expect(await failure(run.pause())).to.equal("conflict");
  });

  it("a run is paused and resumed over a WebSocket", async () => {
    const run = await working();
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, ["venturi", "bearer.acme"]);
    await once(socket, "open");
    socket.send(JSON.stringify({ type: "pause", run: run.id, reason: "wait" }));
    await heard(run.id);
    shared.letGo?.();
    await until(run.events(), "run.paused");
    socket.send(JSON.stringify({ type: "resume", run: run.id }));
    await until(run.events(), "run.finished");
    socket.send(JSON.stringify({ type: "resume", run: run.id }));
    const [message] = await once(socket, "message");
    expect(JSON.parse(String(message))).to.have.nested.property("error.code", "conflict");
    socket.close();
  });

  it("an agent is paused for all: its runs wait, new ones are taken, and the API, why and the metrics say so", async () => {
    const boss = client("boss");
    const run = await working();
    expect(await boss.pauseAgent("worker", { reason: "the shop is closed" })).to.equal(true);
    expect(await boss.pauseAgent("worker")).to.equal(false);
    shared.letGo?.();
    expect(await until(run.events(), "run.paused")).to.include({ agent: "worker", by: "boss" });
    const late = await client("acme").start({ agent: "worker", input: "later" });
    expect((await late.get()).status).to.equal("ready");
    await told(late.id, "the agent worker was paused");
    const paused = (await boss.agents()).map(({ name, paused: since }) => [name, since?.reason]);
    expect(paused).to.deep.equal([
      ["assistant", undefined],
      ["worker", "the shop is closed"],
    ]);
    const metrics = await fetch(`${url}/metrics`, { headers: { authorization: "Bearer boss" } });
    const text = await metrics.text();
    expect(text).to.match(/^venturi_agents_paused\{gen_ai_agent_name="worker"\} 1$/m);
    expect(text).to.match(/^venturi_agents_paused\{gen_ai_agent_name="assistant"\} 0$/m);
    const audit = (await service?.host.journal.audits({ action: "agent.paused" }))?.records ?? [];
    expect(audit.map(({ by, details }) => [by, details])).to.deep.equal([
      ["boss", { agent: "worker", reason: "the shop is closed" }],
    ]);
    expect(
      (
        await client("acme")
          .start({ agent: "assistant", input: "hello" })
          .then((other) => other.result())
      ).type,
    ).to.equal("run.finished");
    shared.began = () => setImmediate(() => shared.letGo?.());
    expect(await boss.resumeAgent("worker")).to.equal(true);
    await until(run.events(), "run.finished");
    await until(late.events(), "run.finished");
    shared.began = undefined;
  });

  it("a key limited to its tenant may not pause an agent", async () => {
    for (const key of ["acme", "reader"]) {
      expect(await failure(client(key).pauseAgent("worker")), key).to.equal("forbidden");
      expect(await failure(client(key).resumeAgent("worker")), key).to.equal("forbidden");
    }
    expect(await failure(client("boss").pauseAgent("nobody"))).to.equal("not_found");
    expect((await post("/v1/agents/worker/pause", "boss", { reason: 5 }))[0]).to.equal(400);
    expect((await post("/v1/agents/worker/pause", "boss", { reason: "x".repeat(4_001) }))[0]).to.equal(400);
    expect((await post("/v1/agents/worker/resume", "boss"))[1]).to.deep.equal({ agent: "worker", changed: false });
  });

  it("venturi pause --agent does the same", async () => {
    const say = async (...words: string[]) => {
      const { exit, out, err } = await venturi(["pause", ...words, "--url", url, "--key", "boss"]);
      return [exit, out.trim() || err.trim()] as const;
    };
    expect(await say("--agent", "worker", "--reason", "closed")).to.deep.equal([
      0,
      "worker is paused: its runs finish their round and wait",
    ]);
    expect(await say("--agent", "worker")).to.deep.equal([0, "worker is paused already"]);
    expect(await say("--agent", "worker", "--resume")).to.deep.equal([0, "worker goes on"]);
    expect((await say())[1]).to.contain("name a run, or an agent with --agent");
  });
});
