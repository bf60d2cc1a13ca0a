import { expect } from "chai";
import { questionsAbout } from "../../../src/host/runs/approval-count.ts";
import { Committer } from "../../../src/journal/committer.ts";
import { claimed, memory } from "../../journal/setup.ts";

describe("questionsAbout", () => {
  it("counts how often a run has asked about a call", async () => {
    const journal = memory();
    const { attempt } = await claimed(journal);
    const log = new Committer({ journal }).openLog(attempt);
    for (let n = 0; n < 1_500; n++) log.write({ type: "text.delta", round: 1, text: "x" });
    for (const call of ["a", "b", "a"]) {
      log.write({ type: "approval.requested", round: 1, call, name: "pay", arguments: {} });
    }
    await log.flush();
    expect(await questionsAbout(journal, attempt.run, "a")).to.equal(2);
    expect(await questionsAbout(journal, attempt.run, "c")).to.equal(0);
  });
});
