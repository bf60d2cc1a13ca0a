import { expect } from "chai";
import { heldRun, holding, readHistory, readSteps } from "../../src/journal/history.ts";
import { claimed, delta, finished, gated, pair, started } from "./setup.ts";

describe("an ended run", () => {
  it("is in memory for all who need its steps while it is held, and read in full by everyone else", async () => {
    const journal = gated();
    const { committer } = pair(journal);
    const { ownership } = await claimed(journal);
    const log = committer.openLog(ownership);
    log.write(started());
    log.write(delta("a"));
    await log.step(finished());
    const row = await journal.get(ownership.run);
    if (row === undefined) throw new Error("no such run");
    const plain = await readHistory(journal, row);
    expect(plain).to.have.length(3);
    const steps = await readSteps(journal, row);
    expect(steps.map(({ seq }) => seq)).to.deep.equal([1, 3]);
    let reads = 0;
    const read = journal.read.bind(journal);
    journal.read = (...args) => {
      reads += 1;
      return read(...args);
    };
    await holding(journal, { row, steps }, async () => {
      expect(await readSteps(journal, row)).to.equal(steps);
      expect(heldRun(journal, row.run)?.row).to.equal(row);
      expect(reads).to.equal(0);
      expect(await readHistory(journal, row)).to.deep.equal(plain);
      expect(reads).to.equal(1);
    });
    await readSteps(journal, row);
    expect(reads).to.equal(2);
    const failed = await holding(journal, { row, steps }, () => Promise.reject(new Error("no"))).catch(String);
    expect(failed).to.equal("Error: no");
    expect(heldRun(journal, row.run)).to.equal(undefined);
  });
});
