import { existsSync } from "node:fs";
import { expect } from "chai";
import { Place } from "./place.ts";

describe("a bad dataset", function () {
  this.timeout(120_000);
  const place = new Place(3);
  before(async () => place.record(3));
  after(() => place.remove());

  const refused = async (text: string, file = "bad.yaml"): Promise<string[]> => {
    place.write(file, text);
    const { code, err, out } = await place.venturi("eval", file);
    expect(code).to.equal(2);
    expect(out).to.equal("");
    // Nothing was begun: no journal, no state, no order.
    expect(existsSync(place.file("data/evals"))).to.equal(false);
    expect(place.orders).to.equal(3);
    const lines = err.trim().split("\n");
    return lines.map((line) => line.slice(line.indexOf(`${file}:`)));
  };

  it("with an unknown run is refused with its place, though the others are fine", async () => {
    expect(await refused(`items:\n  - run: ${place.runs[0]}\n  - run: run_nowhere\n`)).to.deep.equal([
      "bad.yaml:3:5: there is no run run_nowhere; it never was in this journal, or it was pruned",
    ]);
  });

  it("with a wrong schema is refused: keys, types, patterns, JSON Schemas", async () => {
    const set = `agent: buyer
scorers: [exact, { type: regex, pattern: "(" }]
items:
  - { input: order 1, expct: { output: x } }
  - { input: order 1, expect: { schema: { type: nonsense } } }
  - { input: order 1, expect: { regex: "a(?<=b)" } }
  - { input: order 1, id: "a b" }
`;
    const lines = await refused(set);
    expect(lines.map((line) => line.split(": ")[0])).to.deep.equal([
      "bad.yaml:2:42",
      "bad.yaml:4:30",
      "bad.yaml:5:41",
      "bad.yaml:6:40",
      "bad.yaml:7:27",
    ]);
  });

  it("with the same run or id twice is refused, in YAML and in JSON lines", async () => {
    const run = place.runs[1];
    expect(
      await refused(
        `agent: buyer\nitems:\n  - run: ${run}\n  - { input: order 1, id: x }\n  - { input: order 2, id: x }\n  - run: ${run}\n`,
      ),
    ).to.deep.equal([
      "bad.yaml:5:5: the id x is taken, at bad.yaml:4:5",
      `bad.yaml:6:5: the run ${run} is in the set already, at bad.yaml:3:5`,
    ]);
    const lines = `{"venturi":"dataset","agent":"buyer"}\n{"run":"${run}"}\n{"run":"${run}"}\n`;
    expect(await refused(lines, "bad.jsonl")).to.deep.equal([
      `bad.jsonl:3:1: the run ${run} is in the set already, at bad.jsonl:2:1`,
    ]);
  });

  it("with a pruned run is refused; one that was copied into the set is not", async () => {
    const added = await place.venturi("dataset", "add", place.runs[2] ?? "", "--to", "kept.jsonl", "--note", "why");
    expect(added.code, added.err).to.equal(0);
    const pruned = await place.venturi("prune", "--older-than", "1ms");
    expect(pruned.code, pruned.err).to.equal(0);
    expect((await refused(`items:\n- run: ${place.runs[2]}\n`))[0]).to.match(
      /^bad\.yaml:2:3: there is no run .* pruned$/,
    );
    const taken = await place.venturi("eval", "kept.jsonl");
    expect(taken.code, taken.err).to.equal(0);
    expect(place.read("kept.jsonl")).to.include('"note":"why"');
    expect(place.orders).to.equal(3);
  });
});
