import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { type Block, blocksOf, placeOf, root } from "./pages.ts";

describe("the README", () => {
  const find = (place: string): Block => {
    const block = blocksOf("README.md").find((each) => placeOf(each) === place);
    if (block === undefined) throw new Error(`there is no ${place}`);
    return block;
  };
  const linesOf = (block: Block): number => block.text.trimEnd().split("\n").length;

  it("has an agent in 12 lines, a tool in 15 and a provider in 40", () => {
    expect(linesOf(find("readme/venturi.yaml"))).to.be.at.most(12);
    expect(linesOf(find("readme/order.js"))).to.be.at.most(15);
    expect(linesOf(find("readme/provider/index.ts"))).to.be.at.most(40);
  });

  it("shows the very provider that passes the contract suite", () => {
    const example = readFileSync(join(root, "examples/plugins/provider/index.ts"), "utf8");
    expect(find("readme/provider/index.ts").text).to.equal(example);
  });

  it("names the two commands as they are", () => {
    const text = readFileSync(join(root, "README.md"), "utf8");
    expect(text).to.include("\nnpm ci && npm start\n").and.include("\nnpm ci && npm test\n");
  });

  it("says that chunk spans cost what docs/telemetry.md says", () => {
    const [readme, page] = ["README.md", "docs/telemetry.md"].map((file) => readFileSync(join(root, file), "utf8"));
    const [, figure] = /takes ([\d.]+) × the processor time of telemetry off/.exec(readme ?? "") ?? [];
    const [, ratio] = /^\| `chunks: spans` +\| [\d.]+ +\| ([\d.]+) /m.exec(page ?? "") ?? [];
    expect(figure).to.be.a("string").and.equal(ratio);
    expect(readme).not.to.match(/\| [^|]*span[^|]* \|[^\n]*\n\| -/); // no second figure in a table of other measurements
  });

  it("names tests that are there", () => {
    const text = readFileSync(join(root, "README.md"), "utf8");
    const named = [...text.matchAll(/`(test\/[\w/-]+\.test\.ts)`/g)].map(([, file = ""]) => file);
    expect(named).not.to.deep.equal([]);
    for (const file of named) expect(() => readFileSync(join(root, file)), file).not.to.throw();
  });
});
