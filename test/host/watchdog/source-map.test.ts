import { globSync, readFileSync } from "node:fs";
import { SourceMap as NodesMap } from "node:module";
import { expect } from "chai";
import fc from "fast-check";
import { SourceMap } from "../../../src/host/watchdog/source-map.ts";

describe("a source map", () => {
  it("has the places that Node finds, all over the map of the whole program", () => {
    const [file = ""] = globSync("dist/bundle/program-*.cjs.map");
    const map = JSON.parse(readFileSync(file, "utf8"));
    const [ours, nodes] = [new SourceMap(map), new NodesMap(map)];
    const lines = map.mappings.split(";").length;
    const place = fc.tuple(fc.nat(lines - 1), fc.nat(20_000));
    fc.assert(
      fc.property(place, ([line, column]) => {
        const found = ours.find(line, column);
        const entry = nodes.findEntry(line, column);
        // Node goes on with the line before, where this one has nothing so far.
        if (!("generatedLine" in entry) || entry.generatedLine !== line) {
          expect(found).to.equal(undefined);
          return;
        }
        const { originalSource: source, originalLine, originalColumn } = entry;
        expect(found).to.deep.equal({ source, line: originalLine, column: originalColumn });
      }),
      { numRuns: 5_000 },
    );
  });

  it("has none past its last line, and none of code without a source", () => {
    // One entry without a source at column 0, one with at column 4.
    const map = new SourceMap({ sources: ["a.ts"], mappings: "A,IAAC;" });
    expect(map.find(0, 0)).to.equal(undefined);
    expect(map.find(0, 4)).to.deep.equal({ source: "a.ts", line: 0, column: 1 });
    expect(map.find(1, 0)).to.equal(undefined);
    expect(map.find(9, 0)).to.equal(undefined);
  });
});
