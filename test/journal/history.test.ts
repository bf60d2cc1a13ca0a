import { expect } from "chai";
import { holdingHistory, readHistory } from "../../src/journal/history.ts";
import { claimed, delta, finished, gated, pair, started } from "./setup.ts";

describe("the history of an ended run", () => {
  it("is read once by all who need it while it is held, and again afterwards", async () => {
    const journal = gated();
    const { committer } = pair(journal);
    const { ownership } = await claimed(journal);
    const log = committer.openLog(ownership);
    log.write(started());
    log.write(delta("a"));
    await log.step(finished());
    const row = { run: ownership.run, head: 3 };
    const plain = await readHistory(journal, row);
    let reads = 0;
    const read = journal.read.bind(journal);
    journal.read = (...args) => {
      reads += 1;
      return read(...args);
    };
    await holdingHistory(journal, row, async () => {
      const first = await readHistory(journal, row);
      expect(first).to.deep.equal(plain);
      first.pop(); // its own array
      expect(await readHistory(journal, row)).to.deep.equal(plain);
      expect(await readHistory(journal, { run: row.run, head: 2 })).to.deep.equal(plain.slice(0, 2));
      expect(reads).to.equal(1);
    });
    await readHistory(journal, row);
    expect(reads).to.equal(2);
    const failed = await holdingHistory(journal, row, () => Promise.reject(new Error("no"))).catch(String);
    expect(failed).to.equal("Error: no");
    await readHistory(journal, row);
    expect(reads).to.equal(4);
  });
});
