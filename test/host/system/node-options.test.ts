import { expect } from "chai";
import { nodeOptions } from "../../../src/host/system/node-options.ts";

describe("the options of Node for the service", () => {
  const young = ["--max-semi-space-size=16", "--min-semi-space-size=8"];

  it("are those it was started with, and a larger young generation", () => {
    expect(nodeOptions([], {})).to.deep.equal(young);
    expect(nodeOptions(["--no-warnings"], { NODE_OPTIONS: "--max-old-space-size=300" })).to.deep.equal([
      "--no-warnings",
      ...young,
    ]);
  });

  it("leave a size as it was chosen, however it is spelled", () => {
    for (const option of ["--max-semi-space-size=4", "--min_semi_space_size=1"]) {
      expect(nodeOptions([option], {})).to.deep.equal([option]);
      expect(nodeOptions([], { NODE_OPTIONS: `--no-warnings ${option}` })).to.deep.equal([]);
    }
  });
});
