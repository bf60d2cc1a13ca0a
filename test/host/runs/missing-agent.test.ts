import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { testFolder } from "../folder.ts";

const config = (agents: string) => `
version: 1
providers:
  demo: { type: simulator, pace: 0, scenarios: [{ name: slow, turns: [{ pace: 150, text: "one two three four" }] }] }
agents: ${agents}
journal: { type: sqlite, path: ./runs.db, lease: 500ms }
channels: {}
telemetry: off
`;
const both = "{ a: { model: demo/small }, b: { model: demo/slow } }";
const lacking = "{ a: { model: demo/small } }";

describe("two programs with different agents on one journal", () => {
  const folder = testFolder();
  const hosts: Host[] = [];
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.close();
  });

  async function open(agents: string): Promise<Host> {
    const configFile = folder.write({ [`${hosts.length}.yaml`]: config(agents) });
    const host = await openHost({ configFile: configFile, env: {}, log: silentLog });
    hosts.push(host);
    return host;
  }

  async function close(host: Host): Promise<void> {
    await host.close();
    hosts.splice(hosts.indexOf(host), 1);
  }

  async function all(host: Host, run: string): Promise<RunEvent[]> {
    const events: RunEvent[] = [];
    for await (const batch of host.runs.follow(run)) events.push(...batch);
    return events;
  }

  it("the one without the agent leaves its runs alone, and the one with it takes them up", async () => {
    const first = await open(both);
    const { run } = await first.runs.start({ agent: "b", input: { text: "x" } });
    await close(first); // gives the run back
    const other = await open(lacking);
    // A run of its own, enqueued later, is claimed: it has looked past the one that is not for it.
    await other.journal.enqueue({
      run: "own",
      tenant: "default",
      session: undefined,
      request: { agent: "a", input: { text: "hi" } },
    });
    expect((await all(other, "own")).at(-1)).to.include({ type: "run.finished" });
    expect(await other.journal.get(run)).to.include({ state: "ready", outcome: undefined });
    const second = await open(both);
    expect((await all(second, run)).at(-1)).to.include({ type: "run.finished", output: "one two three four" });
  });

  it("a run whose agent is not here can still be cancelled", async () => {
    const first = await open(both);
    const { run } = await first.runs.start({ agent: "b", input: { text: "x" } });
    await close(first);
    const other = await open(lacking);
    await other.runs.cancel(run, "nobody wants it");
    const events = await all(other, run);
    expect(events.at(-1)).to.have.nested.property("error.err", "nobody wants it");
    expect(events.at(-1)).to.have.nested.property("error.code", "stream_interrupted");
    expect(events.filter(({ type }) => type === "run.started")).to.have.length(1);
  });
});
