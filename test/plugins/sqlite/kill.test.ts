import { expect } from "chai";
import { freshFile, temporaryFolder } from "./folder.ts";
import { killRepeatedly } from "./kill.ts";

describe("sqlite and kill -9", () => {
  const folder = temporaryFolder();

  /** `npm run test:kill` does it fifty times. */
  it("a killed process loses no event that was acknowledged", async function () {
    const times = Number(process.env.VENTURI_KILLS ?? 3);
    this.timeout(180_000 + times * 5_000);
    const { acknowledged, lost } = await killRepeatedly(freshFile(folder), times);
    if (times > 3)
      process.stdout.write(`      killed ${times} times, ${acknowledged} events acknowledged, ${lost} lost\n`);
    expect(acknowledged).to.be.greaterThan(0);
    expect(lost).to.equal(0);
  });
});
