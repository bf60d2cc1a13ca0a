import { expect } from "chai";
import { Readiness } from "../../../src/host/http/readiness.ts";

describe("readiness", () => {
  it("is refused when the journal stays silent, and is there again when it answers", async () => {
    let answer = () => {};
    let asked = 0;
    const readiness = new Readiness(() => {
      asked += 1;
      return new Promise((resolve) => (answer = resolve));
    }, 20);
    for (let tries = 0; tries < 3; tries++) {
      const error = await readiness.check().catch((thrown) => thrown);
      expect(error).to.include({ op: "server.ready", code: "journal_failed" });
    }
    expect(asked).to.equal(1);
    const ready = readiness.check();
    answer();
    await ready;
  });

  it("tells the journal's own error", async () => {
    const readiness = new Readiness(() => Promise.reject(new Error("down")));
    expect(await readiness.check().catch((thrown) => thrown.message)).to.equal("down");
  });
});
