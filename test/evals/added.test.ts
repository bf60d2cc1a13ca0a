import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { Place } from "./place.ts";

describe("a run that is added to a set", () => {
  const place = new Place(1);
  before(() => place.record(1));
  after(() => place.remove());

  it("is found there, also when the set's name looks like a pattern", async () => {
    const [run = ""] = place.runs;
    const added = await place.venturi("dataset", "add", run, "--to", "cases [v2].jsonl");
    expect(added.code, added.err).to.equal(0);
    const found = await place.venturi("eval", "cases [v2].jsonl", "--json");
    expect(found.code, found.err).to.equal(0);
  });

  it("under an id that no set may have is refused, and the set stays as it was", async () => {
    const [run = ""] = place.runs;
    for (const id of ["my case!", "", "a/b"]) {
      const { code, err } = await place.venturi("dataset", "add", run, "--to", "cases.jsonl", "--id", id);
      expect([code, err]).to.deep.equal([
        2,
        `cli.run: dataset.add: invalid_input: an item cannot have the id "${id}": letters, digits, _, . and - (at most 100)\n`,
      ]);
    }
    expect(existsSync(place.file("cases.jsonl"))).to.equal(false);
  });

  it("cannot have been imported under a name that leads elsewhere", async () => {
    const [run = ""] = place.runs;
    const nowhere = await place.venturi("export", run, "--output", "nowhere/run.ndjson");
    expect([nowhere.code, nowhere.err.includes("cli.export: not_found: ENOENT")], nowhere.err).to.deep.equal([1, true]);
    await place.venturi("export", run, "--output", "run.ndjson");
    const plain = await place.venturi("import", "run.ndjson", "--as", "run_copy");
    expect(plain.code, plain.err).to.equal(0);
    place.write("evil.ndjson", readFileSync(place.file("run.ndjson"), "utf8").replace(run, "../../evil"));
    for (const words of [["evil.ndjson"], ["run.ndjson", "--as", "../x y"], ["run.ndjson", "--as", ""]]) {
      const { code, err } = await place.venturi("import", ...words);
      expect([code, err.includes("journal.import: invalid_input: a run cannot be called")], err).to.deep.equal([
        2,
        true,
      ]);
    }
  });
});
