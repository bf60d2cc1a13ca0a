import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { keyOf } from "../../service.ts";
import { testFolder } from "../folder.ts";

const config = `
version: 1
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - name: payer
        turns: [{ calls: [{ name: calculator, arguments: { expression: "1 + 1" } }] }, { text: "All is paid." }]
tools: { calculator: { type: calculator, approval: always } }
agents: { payer: { model: demo/payer, tools: [calculator] }, plain: { model: demo/small } }
journal: { type: sqlite, path: ./runs.db }
server: { listen: 0, auth: { keys: [{ ${JSON.stringify(keyOf("ada", "key")).slice(1, -1)}, concurrentRuns: 2, may: [start, see, steer, approve] }] } }
limits: { activeRuns: 2, queue: 0, drain: 1h }
channels: { http: { type: channel-http } }
telemetry: off
`;

describe("runs that wait for a person", () => {
  const folder = testFolder();
  const services: Service[] = [];
  afterEach(async () => {
    for (const service of services.splice(0)) await service.drain();
  });

  async function open(): Promise<Service> {
    const configFile = folder.write({ "venturi.yaml": config });
    const service = await openService({ configFile, env: {}, log: silentLog });
    services.push(service);
    return service;
  }

  const post = (service: Service, path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(service.url + path, {
      method: "POST",
      headers: { authorization: "Bearer key", "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const start = async (service: Service, agent: string) => {
    const answer = await post(service, "/v1/runs", { agent, input: "go" }, { prefer: "respond-async" });
    return { status: answer.status, run: answer.headers.get("x-venturi-run") ?? "" };
  };
  const parked = async (service: Service, run: string) => {
    while ((await service.host.runs.get(run)).state !== "waiting") await new Promise((next) => setTimeout(next, 20));
  };

  it("hold no slot of the service or their key, end when they are answered, and do not delay a shutdown", async () => {
    const service = await open();
    const runs: string[] = [];
    for (let n = 0; n < 3; n++) {
      const pair = await Promise.all([start(service, "payer"), start(service, "payer")]);
      expect(pair.map(({ status }) => status)).to.deep.equal([202, 202]);
      for (const { run } of pair) await parked(service, run);
      runs.push(...pair.map(({ run }) => run));
    }
    // The process hears that a run is parked after the journal has stored it.
    while (service.host.active() > 0) await new Promise((next) => setTimeout(next, 20));
    expect((await post(service, "/v1/runs", { agent: "plain", input: "hi" })).status).to.equal(200);

    const [first = "", ...rest] = runs;
    const events: RunEvent[] = [];
    for await (const batch of service.host.runs.follow(first)) {
      events.push(...batch);
      const asked = batch.find((event) => event.type === "approval.requested");
      if (asked) await post(service, `/v1/runs/${first}/approvals/${asked.call}`, { approved: true });
    }
    expect(events.at(-1)).to.include({ type: "run.finished", output: "All is paid." });
    expect(events.filter(({ type }) => type === "tool.started")).to.have.length(1);

    await service.drain(); // has an hour for those that are not parked
    services.length = 0;
    const again = await open();
    for (const run of rest)
      expect(await again.host.runs.get(run)).to.include({
        state: "waiting",
        head: events.findIndex(({ type }) => type === "approval.requested") + 1,
      });
  });

  it("counts runs queued in a session against the key", async () => {
    const service = await open();
    const body = { agent: "payer", input: "go", session: "busy" };
    // The first waits for a person and counts no more; those behind it do.
    const first = await post(service, "/v1/runs", body, { prefer: "respond-async" });
    await parked(service, first.headers.get("x-venturi-run") ?? "");
    const statuses: number[] = [];
    for (let n = 0; n < 20; n++) {
      statuses.push((await post(service, "/v1/runs", body, { prefer: "respond-async" })).status);
    }
    expect(statuses.slice(0, 2)).to.deep.equal([202, 202]);
    expect(new Set(statuses.slice(2))).to.deep.equal(new Set([429]));
  });
});
