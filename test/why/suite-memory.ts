import { expect } from "chai";
import { House } from "./house.ts";
import { must, partOf, toolModule } from "./must.ts";
import { sameTimes } from "./told.ts";

const call = (name: string) => ({ calls: [{ name, arguments: {} }] });
/** Objects that live for a while, which is what makes collections slow. */
const fill = `
const kept = [];
const fill = () => {
  for (let n = 0; n < 40_000; n += 1) kept.push({ n, text: String(n), more: [n] });
  if (kept.length > 4e6) kept.splice(0, 1e6);
};
const during = (ms) => { const end = performance.now() + ms; return () => performance.now() < end; };
const turn = () => new Promise((resolve) => setImmediate(resolve));
`;
const names = ["hoards", "churns", "late", "huge", "slow"];
const files = {
  "tools.mjs": [
    fill,
    toolModule(
      "hoards",
      "call() { const goesOn = during(3000); while (goesOn()) fill(); kept.length = 0; return 'kept'; }",
    ),
    toolModule(
      "churns",
      "async call() { const goesOn = during(3000); while (goesOn()) { fill(); await turn(); } kept.length = 0; return 'kept'; }",
    ),
    toolModule(
      "late",
      "async call() { await new Promise((resolve) => setTimeout(resolve, 300)); const goesOn = during(1500); while (goesOn()); return 'ground'; }",
    ),
    toolModule("huge", "call: () => 'x'.repeat(60e6)"),
    toolModule("slow", "call: () => new Promise((resolve) => setTimeout(resolve, 4000, 'at last'))"),
  ].join(""),
};
const config = {
  providers: {
    demo: {
      type: "simulator",
      pace: 0,
      scenarios: names.map((name) => ({ name, turns: [call(name), { text: "done" }] })),
    },
  },
  tools: Object.fromEntries(names.map((name) => [name, { type: "module", path: "./tools.mjs", export: name }])),
  agents: {
    ...Object.fromEntries(names.map((name) => [name, { model: `demo/${name}`, tools: [name] }])),
    steady: { model: "demo/pace-20-100" },
  },
};

describe("memory, and who fills it", function () {
  this.timeout(120_000);
  const house = new House({ config, files });
  before(() => house.start());
  after(() => house.close());

  const beside = async (name: string) => {
    const victim = await house.run("steady");
    await house.has(victim, "text.delta");
    const run = await house.run(name);
    await Promise.all([house.ended(run), house.ended(victim)]);
    return { run, own: await sameTimes(house, run), victim: await sameTimes(house, victim) };
  };

  it("a tool that fills the memory without yielding: garbage collection as such, and the tool, also to its neighbour", async () => {
    const { run, own, victim } = await beside("hoards");
    for (const why of [own, victim]) {
      expect(partOf(why, "gc"), JSON.stringify(why.parts)).to.be.above(400);
      expect(["garbage_collection", "blocked_loop"]).to.include(why.cause);
      expect(why.summary).to.match(
        new RegExp(`went into garbage collection: tool hoards of run ${run} filled the memory`),
      );
    }
    const line = house.log.find(({ message }) => /^garbage collection takes/.test(String(message)));
    expect(line).to.have.property("culprit", `tool hoards of run ${run}`);
  });

  it("one that fills it in turns: the same, while it is the only one under way", async () => {
    const { run, own, victim } = await beside("churns");
    for (const why of [own, victim]) {
      expect(partOf(why, "gc"), JSON.stringify(why.parts)).to.be.above(200);
      expect(why.summary).to.match(new RegExp(`something, while tool churns of run ${run} ran, filled the memory`));
    }
  });

  it("one that blocks after it has yielded is named as the one under way; with a second one nobody is", async () => {
    const { run, own } = await beside("late");
    must(own, "blocked_loop", new RegExp(`something, while tool late of run ${run} ran, kept the process busy`));
    const slow = await house.run("slow");
    await house.has(slow, "tool.started");
    const second = await beside("late");
    await house.ended(slow);
    must(second.own, "blocked_loop", / something kept the process busy/);
  });

  it("a result of 60 MB: how much of it the model got", async () => {
    const { own } = await beside("huge");
    expect(own.summary).to.match(/The model got the first \d+ of \d+ characters that huge returned/);
    expect(["result_cut", "slow_tool"]).to.include(own.cause);
  });
});
