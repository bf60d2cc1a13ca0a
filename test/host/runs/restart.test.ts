import { readFileSync } from "node:fs";
import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { testFolder } from "../folder.ts";

const config = (toolPolicy: string) => `
version: 1
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - name: payer
        turns: [{ calls: [{ name: pay, arguments: { amount: 5 } }] }, { text: "All is paid." }]
tools: { pay: { type: module, path: ./pay.mjs, approval: always } }
agents: { payer: { model: demo/payer, tools: [pay], toolPolicy: { ${toolPolicy} } } }
journal: { type: sqlite, path: ./runs.db }
channels: {}
telemetry: off
`;

const pay = `
import { appendFileSync } from "node:fs";
const paid = new URL("paid.txt", import.meta.url);
export default {
  description: "Pays",
  parameters: { type: "object" },
  call({ amount }) {
    appendFileSync(paid, amount + "\\n");
    return "paid";
  },
};
`;

describe("a run that waits for a person, over a restart of the service", () => {
  const folder = testFolder();
  const hosts: Host[] = [];

  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.close();
  });

  async function open(toolPolicy: string): Promise<Host> {
    const configFile = folder.write({ "venturi.yaml": config(toolPolicy), "pay.mjs": pay, "paid.txt": "" });
    const host = await openHost({ configFile, env: {}, log: silentLog });
    hosts.push(host);
    return host;
  }

  async function asked(host: Host): Promise<{ run: string; call: string }> {
    const { run } = await host.runs.start({ agent: "payer", input: { text: "pay" } });
    for await (const batch of host.runs.follow(run)) {
      for (const event of batch) if (event.type === "approval.requested") return { run, call: event.call };
    }
    throw new Error("nobody was asked");
  }

  async function shutDown(host: Host): Promise<void> {
    await host.drain(0, "interrupt");
    await host.close();
    hosts.splice(hosts.indexOf(host), 1);
  }

  async function all(host: Host, run: string): Promise<RunEvent[]> {
    const events: RunEvent[] = [];
    for await (const batch of host.runs.follow(run)) events.push(...batch);
    return events;
  }

  const paid = () => readFileSync(folder.path("paid.txt"), "utf8");

  it("is taken up, and the word that comes then runs the tool once", async () => {
    const first = await open("approvalTimeout: 1h");
    const { run, call } = await asked(first);
    await shutDown(first);
    const second = await open("approvalTimeout: 1h");
    expect((await second.runs.get(run)).state).not.to.equal("done");
    await second.runs.signal(run, "approve", { call, approved: true });
    const events = await all(second, run);
    expect(events.at(-1)).to.include({ type: "run.finished", output: "All is paid." });
    expect(events.filter(({ type }) => type === "approval.requested")).to.have.length(1);
    expect(events.filter(({ type }) => type === "tool.started")).to.have.length(1);
    expect(paid()).to.equal("5\n");
  });

  it("is denied when the time is over, though nobody ever answers", async () => {
    const first = await open("approvalTimeout: 1500ms");
    const { run } = await asked(first);
    await shutDown(first);
    const events = await all(await open("approvalTimeout: 1500ms"), run);
    expect(events.find(({ type }) => type === "approval.resolved")).to.include({ approved: false });
    expect(events.at(-1)).to.include({ type: "run.finished" });
    expect(paid()).to.equal("");
  });
});
