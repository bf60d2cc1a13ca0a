import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "chai";

const { spec, timeout } = createRequire(import.meta.url)("../../.mocharc.cjs") as { spec: string[]; timeout: number };

/** Faults of a line: it fails when others use the machine, too. */
function faultsOf(line: string): string[] {
  const [, ended, bound] =
    /\b(?:Date|performance)\.now\(\) - (\w+).*\b(below|isBelow|lessThan|most|closeTo|within)\(/.exec(line) ?? [];
  const [, own] = /(?:\}\)|\bthis)\.timeout\(([\d_]+)\)/.exec(line) ?? [];
  return [
    ...(bound === undefined || /\bisSlow\b/.test(line)
      ? []
      : [`the time since ${ended} has an upper bound (${bound})`]),
    ...(/isBelow\((?:performance|Date)\.now/.test(line) ? ["the time that has passed has an upper bound"] : []),
    ...(own !== undefined && Number(own.replaceAll("_", "")) < timeout ? [`a timeout of its own: ${own} ms`] : []),
  ];
}

describe("the tests of npm test", () => {
  it("have no bound on the time on the wall: measure CPU time (test/cpu-time.ts), or wait for what has to happen", () => {
    const found = spec.flatMap((file) => {
      const name = file.replace(/^dist\//, "").replace(/js$/, "ts");
      if (name === "test/wall-clock.test.ts") return [];
      const lines = readFileSync(name, "utf8").split("\n");
      return lines.flatMap((line, index) => faultsOf(line).map((fault) => `${name}:${index + 1}: ${fault}`));
    });
    expect(found).to.deep.equal([]);
  });

  it("such a bound would be found", () => {
    for (const line of [
      "expect(performance.now() - start).to.be.below(1_500);",
      "assert.isBelow(Date.now() - start, 900);",
      "expect(Date.now() - at).to.be.within(0, 10);",
      "  }).timeout(20_000);",
    ])
      expect(faultsOf(line), line).not.to.deep.equal([]);
    expect(faultsOf("expect(performance.now() - start).to.be.at.least(50);")).to.deep.equal([]);
  });
});
