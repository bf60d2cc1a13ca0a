import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { testFolder } from "../folder.ts";

const calls = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, n) => ({ name: "ask", arguments: { task: `task ${n}` } })));
const words = "one two three four five six seven eight nine ten";
const config = `
version: 1
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - name: many
        turns: [{ calls: ${calls(30)} }, { text: "done" }]
      - name: few
        turns: [{ calls: ${calls(2)} }, { text: "done" }]
      - name: helper
        turns: [{ text: "${words}" }]
tools: { ask: { type: agent, agent: helper } }
agents:
  boss: { model: demo/many, tools: [ask], limits: { tokens: 300 } }
  small: { model: demo/few, tools: [ask] }
  helper: { model: demo/helper }
journal: { type: memory }
limits: { activeRuns: 1 }
channels: {}
telemetry: off
`;

describe("sub-runs", () => {
  const folder = testFolder();
  let host: Host;
  beforeEach(async () => {
    host = await openHost({ configFile: folder.write({ "venturi.yaml": config }), env: {}, log: silentLog });
  });
  afterEach(() => host.close());

  async function end(request: { agent: string }, options: Parameters<Host["runs"]["start"]>[1] = {}) {
    const { run } = await host.runs.start({ ...request, input: { text: "go" } }, options);
    const events: RunEvent[] = [];
    for await (const batch of host.runs.follow(run)) events.push(...batch);
    const last = events.at(-1);
    if (last?.type !== "run.finished" && last?.type !== "run.failed") throw new Error("it has no end");
    const children = (await host.runs.list({ agent: "helper", limit: 100 })).runs;
    const tokens = ({ inputTokens = 0, outputTokens = 0 }) => inputTokens + outputTokens;
    let used = 0;
    for (const child of children) {
      for await (const batch of host.runs.follow(child.run)) {
        for (const event of batch) {
          if (event.type === "run.finished" || event.type === "run.failed") used += tokens(event.usage);
        }
      }
    }
    const own = events.reduce(
      (sum, event) => sum + (event.type === "generation.finished" ? tokens(event.usage) : 0),
      0,
    );
    return { events, last, children, own, used, total: tokens(last.usage) };
  }

  it("count in their parent's usage, and run though the parent has the only place", async () => {
    const { last, children, own, used, total } = await end({ agent: "small" });
    expect(last).to.include({ type: "run.finished", output: "done" });
    expect(children).to.have.length(2);
    expect(used).to.be.greaterThan(0);
    expect(total).to.equal(own + used);
  });

  it("count once in the totals, for every agent what its own generations took", async () => {
    const { own, used, total } = await end({ agent: "small" });
    const { all, groups } = await host.runs.totals({}, "agent");
    expect(all.inputTokens + all.outputTokens).to.equal(total);
    expect(Object.fromEntries(groups.map((sum) => [sum.name, sum.inputTokens + sum.outputTokens]))).to.deep.equal({
      small: own,
      helper: used,
    });
    const filtered = await host.runs.totals({ agent: "small" });
    expect(filtered.all.inputTokens + filtered.all.outputTokens).to.equal(own);
  });

  it("share their parent's tokens: what one uses the others no longer have", async () => {
    const { last, children, own, used, total } = await end({ agent: "boss" });
    expect(last).to.include({ type: "run.finished", finish: "max_tokens" });
    expect(total).to.equal(own + used);
    // Eight at a time, each with one generation under way when the budget is used up.
    expect(children.length).to.be.lessThan(20);
    for (const { request } of children) expect(request.limits?.tokens).to.be.lessThan(300);
  });

  it("belong to their parent's tenant and count for its caller", async () => {
    const caller = { id: "ada", concurrentRuns: 2 };
    const { events, children } = await end({ agent: "small" }, { tenant: "t", caller });
    expect(children.map(({ tenant, request }) => [tenant, request.caller])).to.deep.equal([["t", caller]]);
    const refused = events.filter((event) => event.type === "tool.finished" && !event.ok);
    expect(refused).to.have.length(1);
    expect(JSON.stringify(refused)).to.include("rate_limited");
  });
});
