import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { expect } from "chai";
import type { AuditRecord } from "../../src/core/journal/audit.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { venturi } from "../cli/venturi.ts";
import { keyOf } from "../service.ts";
import { testFolder } from "./folder.ts";

const all = "[start, see, steer, inspect, approve]";
const key = (id: string, tenant: string) =>
  `{ ${JSON.stringify({ ...keyOf(id, `${id}-key`), tenant }).slice(1, -1)}, may: ${all} }`;
const config = `
version: 1
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - name: payer
        turns: [{ calls: [{ name: calculator, arguments: { expression: "1 + 1" } }] }, { text: "Done." }]
tools: { calculator: { type: calculator, approval: always } }
agents: { payer: { model: demo/payer, tools: [calculator] } }
journal: { type: sqlite, path: ./runs.db }
server: { listen: 0, auth: { keys: [${key("ada", "a")}, ${key("bob", "b")}] } }
channels: { http: { type: channel-http } }
telemetry: off
`;

describe("the audit", () => {
  const folder = testFolder();
  let service: Service;
  let configFile = "";
  beforeEach(async () => {
    configFile = folder.write({ "venturi.yaml": config });
    service = await openService({ configFile, env: {}, log: silentLog });
  });
  afterEach(() => service.drain());

  const ask = (caller: string, path: string, body?: unknown) =>
    fetch(service.url + path, {
      headers: {
        authorization: `Bearer ${caller}-key`,
        "content-type": "application/json",
        prefer: "respond-async",
      },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
  async function asked(caller: string): Promise<{ run: string; call: string }> {
    const answer = await ask(caller, "/v1/runs", { agent: "payer", input: "go" });
    const { run } = (await answer.json()) as { run: string };
    for await (const batch of service.host.runs.follow(run)) {
      for (const event of batch) if (event.type === "approval.requested") return { run, call: event.call };
    }
    throw new Error("nobody was asked");
  }

  it("tells who approved, denied and cancelled what, who failed to log in, and of reloads; each tenant sees its own", async () => {
    const given = await asked("ada");
    await ask("ada", `/v1/runs/${given.run}/approvals/${given.call}`, { approved: true });
    await ask("ada", `/v1/runs/${given.run}/approvals/${given.call}`, { approved: true });
    const denied = await asked("bob");
    await ask("bob", `/v1/runs/${denied.run}/approvals/${denied.call}`, { approved: false });
    const cancelled = await asked("ada");
    await ask("ada", `/v1/runs/${cancelled.run}/cancel`, { reason: "enough" });
    await ask("nobody", "/v1/runs");
    await service.host.reload();
    writeFileSync(configFile, "nonsense: true");
    await service.host.reload();
    writeFileSync(configFile, config);

    const listed = async (caller: string, query = "") =>
      ((await (await ask(caller, `/v1/audit${query}`)).json()) as { records: AuditRecord[] }).records;
    const hash = createHash("sha256").update('{"expression":"1 + 1"}').digest("hex");
    const told = (records: readonly AuditRecord[]) => records.map(({ action, by, run }) => [action, by, run]);
    const ofAda = await listed("ada");
    expect(told(ofAda)).to.deep.equal([
      ["run.cancelled", "ada", cancelled.run],
      ["approval.given", "ada", given.run],
    ]);
    expect(ofAda[1]?.details).to.deep.equal({ call: given.call, tool: "calculator", arguments: `sha256:${hash}` });
    expect(told(await listed("bob"))).to.deep.equal([["approval.denied", "bob", denied.run]]);
    expect(await listed("bob", `?run=${given.run}`)).to.deep.equal([]);

    const { out, exit } = await venturi(["audit", "--config", configFile, "--json"]);
    expect(exit).to.equal(0);
    const everything = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as AuditRecord);
    expect(everything.map(({ action }) => action)).to.deep.equal([
      "config.refused",
      "config.reloaded",
      "auth.failed",
      "run.cancelled",
      "approval.denied",
      "approval.given",
    ]);
    const lines = await venturi(["audit", "--config", configFile, "--action", "approval.given"]);
    expect(lines.out).to.match(/^\d{4}-.*Z {2}approval\.given .*"ada" {2}tenant a run_/);
  });
});
