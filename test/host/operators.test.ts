import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { loadConfig } from "../../src/host/config/load.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { keyOf } from "../service.ts";
import { testFolder } from "./folder.ts";

const all = "[start, see, steer, approve, inspect]";
const config = `
providers:
  demo:
    type: simulator
    pace: 0
    scenarios: [{ name: asks, match: { text: "^pay" }, turns: [{ calls: [{ name: sum, arguments: { expression: "1+1" } }] }, { text: paid }] }]
tools: { sum: { type: calculator, approval: always } }
agents: { a: { model: demo/small, tools: [sum] } }
channels: { http: {} }
journal: { type: memory }
telemetry: off
server:
  listen: 0
  auth:
    keys:
      - { id: acme, sha256: ${keyOf("", "acme").sha256}, may: ${all} }
      - { id: watcher, sha256: ${keyOf("", "watcher").sha256}, tenants: all, may: ${all} }
      - { id: chief, sha256: ${keyOf("", "chief").sha256}, tenants: all, act: all, may: ${all} }
limits: { drain: 50ms }
`;

describe("an operator's key", function () {
  this.timeout(180_000);
  const folder = testFolder();
  let service: Service;
  beforeEach(async () => {
    service = await openService({ configFile: folder.write({ "venturi.yaml": config }), log: silentLog });
  });
  afterEach(() => service.drain());

  const ask = async (key: string, path: string, init: RequestInit & { json?: unknown } = {}) => {
    const { json, ...rest } = init;
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const type = json === undefined ? {} : { "content-type": "application/json" };
    const headers = { authorization: `Bearer ${key}`, ...type, ...init.headers };
    const response = await fetch(service.url + path, { ...rest, ...body, headers });
    return { status: response.status, body: (await response.json().catch(() => ({}))) as Record<string, unknown> };
  };
  const asking = async (): Promise<{ run: string; call: string }> => {
    const started = await ask("acme", "/v1/runs", {
      method: "POST",
      json: { agent: "a", input: "pay" },
      headers: { prefer: "respond-async" },
    });
    const run = String(started.body.run);
    for await (const batch of service.host.runs.follow(run))
      if (batch.some(({ type }) => type === "approval.requested")) break;
    const [question] = await service.host.runs.pending(run);
    return { run, call: question?.call ?? "" };
  };

  it("that only sees is not offered others' questions, and may not answer, fork or erase", async () => {
    const { run, call } = await asking();
    expect((await ask("watcher", `/v1/runs/${run}`)).status).to.equal(200);
    expect((await ask("watcher", "/v1/approvals")).body.approvals).to.deep.equal([]);
    expect((await ask("watcher", "/v1/me")).body)
      .to.include({ tenants: "all" })
      .and.to.not.have.property("act");
    const answer = { method: "POST", json: { approved: true } };
    expect((await ask("watcher", `/v1/runs/${run}/approvals/${call}`, answer)).status).to.equal(404);
    expect((await ask("watcher", `/v1/runs/${run}/fork`, { method: "POST", json: { after: 1 } })).status).to.equal(404);
    expect((await ask("watcher", `/v1/runs/${run}`, { method: "DELETE" })).status).to.be.oneOf([404, 409]);
  });

  it("with `act: all` answers, forks into the owner's tenant and erases, and the audit names it", async () => {
    const { run, call } = await asking();
    expect((await ask("chief", "/v1/me")).body).to.include({ tenants: "all", act: "all" });
    expect((await ask("chief", "/v1/approvals")).body.approvals).to.have.length(1);
    const answer = { method: "POST", json: { approved: true } };
    expect((await ask("chief", `/v1/runs/${run}/approvals/${call}`, answer)).status).to.equal(202);
    for await (const _batch of service.host.runs.follow(run));
    const forked = await ask("chief", `/v1/runs/${run}/fork`, { method: "POST", json: { after: 1 } });
    expect(forked.status, JSON.stringify(forked.body)).to.be.within(200, 299);
    expect(await service.host.runs.get(String(forked.body.run))).to.include({ tenant: "acme" });
    expect((await ask("chief", `/v1/runs/${run}`, { method: "DELETE" })).status).to.be.within(200, 299);
    const { records } = await service.host.journal.audits({});
    expect(records.filter(({ by }) => by === "chief").map(({ action, tenant }) => [action, tenant])).to.deep.include([
      "run.removed",
      "acme",
    ]);
  });

  it("cannot act on what it does not see", async () => {
    const file = folder.write({ "venturi.yaml": config.replace("tenants: all, act: all", "act: all") });
    const refused = await loadConfig({ file }).catch((thrown: Error) => thrown);
    expect(String(refused)).to.include("needs `tenants: all`");
  });

  it("a body without its type is told which one to send, and bad JSON where it is bad", async () => {
    const send = (body: string, type: string) =>
      ask("acme", "/v1/runs", { method: "POST", body, headers: { "content-type": type } });
    const form = await send('{"agent":"a"}', "application/x-www-form-urlencoded");
    expect(form.status).to.equal(400);
    expect((form.body.error as { err: string }).err).to.equal(
      'the body came as "application/x-www-form-urlencoded"; send JSON with the header "content-type: application/json"; with curl -d, add -H "content-type: application/json"',
    );
    const bad = await send('{"agent":"a",\n"input": }', "application/json");
    expect(bad.body.error).to.deep.include({
      err: 'this is not valid JSON: unexpected "}" at line 2, column 10',
      details: { line: 2, column: 10, position: 23 },
    });
  });
});
