import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";

/** Benchmarks reach into the journals' insides, which no compiler checks: a short call of each shows that they still fit. */
describe("benchmarks of the journals", function () {
  this.timeout(180_000);
  const bench = async (name: string, ...options: string[]) => {
    const file = new URL(`../../../bench/${name}.mjs`, import.meta.url).pathname;
    return (await promisify(execFile)(process.execPath, ["--no-warnings", file, ...options])).stdout;
  };

  it("journal.mjs measures each engine in this process", async () => {
    const few = ["--runs", "5", "--rate", "10", "--seconds", "1"];
    const lines = (await bench("journal", "--engine", "memory", "--engine", "sqlite", ...few)).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).events)).to.deep.equal([50, 50]);
  });

  it("rows.mjs measures openings and operations", async () => {
    const lines = await bench("rows", "--engine", "sqlite", "--sizes", "50,100", "--times", "3", "--json");
    const [, last] = JSON.parse(lines).found;
    expect(last).to.include({ size: 100 }).and.to.include.keys("open", "open, all listed", "claim", "list of failed");
  });

  it("commit.mjs measures the parts of a commit", async () => {
    const lines = (await bench("commit", "--length", "1", "--engine", "sqlite")).trim().split("\n");
    expect(lines).to.have.length(5);
    for (const line of lines)
      expect(line).to.match(/^sqlite, \d+ runs × \d: encode [\d.]+, cross [\d.]+, write [\d.]+$/);
  });
});
