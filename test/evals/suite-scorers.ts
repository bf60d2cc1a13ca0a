import { readFileSync } from "node:fs";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import type { RunSet } from "../../src/evals/scoring/run-set.ts";
import type { Summary } from "../../src/evals/stats/compare.ts";
import { openHost } from "../../src/host/open.ts";
import { Place } from "./place.ts";

const scenarios = `      - { name: json, match: { text: "^json please$" }, turns: [{ text: '{"a":1,"b":{"c":[1,2]},"d":null}' }] }
      - { name: fenced, match: { text: "^fenced please$" }, turns: [{ text: "\`\`\`json\\n{\\"a\\": 1, \\"b\\": {\\"c\\": [1, 2]}}\\n\`\`\`" }] }
      - { name: refused, match: { model: judge, text: "Judge an answer[\\\\s\\\\S]*Answer:\\\\nI cannot" }, turns: [{ text: 'Well: {"score": 0.2, "why": "it refused"}' }] }
      - { name: fine, match: { model: judge, text: "Judge an answer" }, turns: [{ text: '{"score": 0.9, "why": "it is done"}' }] }
      - { name: same, match: { model: judge, text: "Answer A:\\\\n(.*)\\\\n\\\\nAnswer B:\\\\n\\\\1\\\\n" }, turns: [{ text: '{"better": "tie"}' }] }
      - { name: second, match: { model: judge, text: "Answer A:\\\\nI cannot" }, turns: [{ text: '{"better": "B", "why": "A refused"}' }] }
      - { name: first, match: { model: judge, text: "Answer B:\\\\nI cannot" }, turns: [{ text: '{"better": "A", "why": "B refused"}' }] }
      - { name: biased, match: { model: biased }, turns: [{ text: '{"better": "A"}' }] }
`;

const set = `name: all
agent: buyer
scorers:
  - exact
  - json
  - { type: schema, schema: { type: object, required: [a] } }
  - { type: regex, pattern: "\\\\d" }
  - calls
  - { type: tools, only: [order] }
  - { name: no-tools, type: tools, only: [] }
  - { type: latency, max: 10m }
  - { name: at-once, type: latency, max: 0.001ms }
  - { type: tokens, max: 100000 }
  - { name: short, type: tokens, max: 1 }
  - { type: cost, max: 1000 }
  - { name: free, type: cost, max: 0.000001 }
  - { type: module, path: ./score.mjs }
  - { type: judge, agent: judge, rubric: is it done }
  - { name: pair, type: judge, agent: judge, rubric: which is done, pairwise: true }
  - { name: biased, type: judge, agent: biased, rubric: which is done, pairwise: true }
items:
  - runs: { agent: buyer }
  - { id: json, input: "json please", expect: { json: { a: 1, b: { c: [1, 2] } }, schema: { required: [z] }, output: "no" } }
  - { id: fenced, input: "fenced please", expect: { json: { b: { c: [1] } }, regex: "json", calls: [] } }
  - { id: wrong-call, input: "order 1", expect: { calls: [{ name: order, arguments: { amount: 2 } }] } }
`;
const read = (text: string) => JSON.parse(text) as { summary: Summary; found: RunSet };

describe("every scorer of an eval", function () {
  this.timeout(240_000);
  // The recorded answer to the last one is bad; on \`bad\` the first one is, too.
  const place = new Place(4, (model, amount) => amount === 3 || (model === "bad" && amount === 0));
  let found: ReturnType<typeof read>;
  before(async () => {
    const before = place.read("venturi.yaml").replace("tools:\n", `${scenarios}tools:\n`);
    const agents =
      "  strict: { model: demo/bad, tools: [order] }\n  judge: { model: demo/judge }\n  biased: { model: demo/biased }\n";
    place.write("venturi.yaml", before.replace("prices:", `${agents}prices:`));
    place.write(
      "score.mjs",
      "export default ({ outcome, asked }) => ({ score: asked.length > 0 && outcome.output.length > 3 ? 0.75 : 0, why: asked });\n",
    );
    place.write("set.yaml", set);
    await place.record(4);
    const host = await openHost({ configFile: place.file("venturi.yaml"), env: {}, log: silentLog });
    for (const [index, run] of place.runs.entries()) await host.runs.giveFeedback(run, { score: index === 3 ? 1 : 5 });
    await host.close();
    const words = ["eval", "set.yaml", "--model", "demo/bad", "--json", "--html", "report.html", "--concurrency", "2"];
    const { out, err } = await place.venturi(...words);
    expect(out, err).not.to.equal("");
    found = read(out);
  });
  after(() => place.remove());

  const of = (id: string | undefined) => found.found.items.find((item) => item.id === id)?.scores ?? {};
  const scoreOf = (id: string | undefined) =>
    Object.fromEntries(Object.entries(of(id)).map(([name, { score }]) => [name, score]));

  it("scores an answer that is the recorded one", () => {
    expect(scoreOf(place.runs[1])).to.deep.equal({
      ...{ exact: 1, schema: 0, regex: 1, calls: 1, tools: 1, "no-tools": 0, latency: 1, "at-once": 0, tokens: 1 },
      ...{ short: 0, cost: 1, free: 0, module: 0.75, judge: 0.9, pair: 0.5, biased: 0.5 },
    });
    expect(of(place.runs[1])["no-tools"]?.why).to.equal("called order");
    expect(of(place.runs[1])["at-once"]?.why).to.match(/^\d+ ms$/);
    expect(of(place.runs[1]).module?.why).to.equal("order 1");
  });

  it("scores an answer that got worse, and pairs in both orders", () => {
    expect(scoreOf(place.runs[0])).to.deep.include({ exact: 0, regex: 0, calls: 1, judge: 0.2, pair: 0, biased: 0.5 });
    expect(of(place.runs[0]).judge?.why).to.equal("it refused");
    expect(of(place.runs[0]).pair?.runs).to.have.length(2);
  });

  it("scores JSON by what it has to have, in a fence too, and calls by their arguments", () => {
    expect(scoreOf("json")).to.deep.include({ exact: 0, json: 1, schema: 1, "no-tools": 1 });
    // Nothing was recorded: there is nothing to compare with.
    expect(scoreOf("json")).not.to.have.any.keys("calls", "pair", "biased");
    expect(of("fenced").json).to.deep.equal({ score: 0, why: "$.b.c has 2 entries" });
    expect(scoreOf("fenced")).to.deep.include({ schema: 1, calls: 1 });
    expect(of("wrong-call").calls).to.deep.equal({
      score: 0,
      why: 'missing: order {"amount":2}; extra: order {"amount":1}',
    });
  });

  it("links the judge's runs, which are runs, and tells how far it agrees with people", () => {
    const runs = found.found.items.flatMap(({ scores }) => scores.judge?.runs ?? []);
    expect(new Set(runs).size).to.equal(7);
    const html = readFileSync(place.file("report.html"), "utf8");
    for (const run of runs) expect(html).to.include(run);
    const judge = found.summary.scorers.find(({ scorer }) => scorer === "judge");
    // The one that people liked least is the one that the judge likes least.
    expect(judge?.agreement).to.deep.equal({ share: 1, pairs: 3 });
    expect(place.orders).to.equal(4 + 1); // recorded, and the input that is no recorded run
  });

  it("takes another agent, repeats items, compares with a kept run set, and refuses one that is not there", async () => {
    place.write("small.yaml", "name: small\nscorers: [exact, calls]\nitems:\n  - runs: { agent: buyer }\n");
    const main = await place.venturi("eval", "small.yaml", "--as", "main", "--repeat", "2", "--json");
    expect(main.code, main.err).to.equal(0);
    const first = read(main.out);
    expect(first.found.items.map(({ repeat }) => repeat)).to.deep.equal([1, 2, 1, 2, 1, 2, 1, 2]);
    expect(first.summary.scorers[0]?.items).to.equal(4);
    const strict = await place.venturi("eval", "small.yaml", "--agent", "strict", "--against", "main", "--json");
    const second = read(strict.out);
    expect(second.found.agent).to.equal("strict");
    expect(second.summary.scorers[0]).to.deep.include({ baseline: 1, mean: 0.75, fell: [place.runs[0]] });
    const none = await place.venturi("eval", "small.yaml", "--against", "nobody");
    expect(none.err).to.include('there is no run set "nobody"');
    const model = await place.venturi("eval", "small.yaml", "--model", "demo/bad", "--against", "main", "--json");
    expect(read(model.out).summary.scorers[0]?.mean).to.equal(0.75);
    const spent = await place.venturi("eval", "small.yaml", "--budget", "0.000001", "--concurrency", "1");
    expect(spent.code).to.equal(1);
    expect(spent.out).to.include("the budget was used up: 3 items were not run");
    for (const wrong of [
      ["--repeat", "0"],
      ["--budget", "free"],
      ["--agent", "nobody"],
      ["--model", "none/m"],
    ])
      expect((await place.venturi("eval", "small.yaml", ...wrong)).code, wrong.join(" ")).not.to.equal(0);
    expect(place.orders).to.equal(5);
  });

  it("that is broken runs nothing", async () => {
    const broken = async (scorer: string, files: Readonly<Record<string, string>> = {}) => {
      for (const [name, text] of Object.entries(files)) place.write(name, text);
      place.write("broken.yaml", `name: broken\nagent: buyer\nscorers: [${scorer}]\nitems: [{ input: order 2 }]\n`);
      const { code, err } = await place.venturi("eval", "broken.yaml");
      expect(code).not.to.equal(0);
      return err;
    };
    expect(await broken('{ type: regex, pattern: "(" }')).to.match(/^.*broken\.yaml:3:\d+: scorers/);
    expect(await broken("{ type: module, path: ./nowhere.mjs }")).to.include("nowhere.mjs cannot be loaded");
    expect(await broken("{ type: module, path: ./empty.mjs }", { "empty.mjs": "export const a = 1;\n" })).to.include(
      "no function as its default export",
    );
    expect(await broken("{ type: judge, agent: nobody, rubric: x }")).to.include('"nobody" is not among the agents');
    expect(place.orders).to.equal(5);
  });
});
