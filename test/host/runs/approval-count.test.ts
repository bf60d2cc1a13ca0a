import { expect } from "chai";
import { approvalsRequested } from "../../../src/host/runs/approval-count.ts";
import { Committer } from "../../../src/journal/committer.ts";
import { claimed, memory } from "../../journal/setup.ts";

describe("approvalsRequested", () => {
  it("counts how often a run has asked about a call", async () => {
    const journal = memory();
    const { ownership } = await claimed(journal);
    const log = new Committer({ journal }).openLog(ownership);
    for (let n = 0; n < 1_500; n++) log.write({ type: "text.delta", round: 1, text: "x" });
    for (const call of ["a", "b", "a"]) {
      log.write({ type: "approval.requested", round: 1, call, name: "pay", arguments: {} });
    }
    await log.flush();
    expect(await approvalsRequested(journal, ownership.run, "a")).to.equal(2);
    expect(await approvalsRequested(journal, ownership.run, "c")).to.equal(0);
  });
});
