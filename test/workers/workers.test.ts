import { expect } from "chai";
import { killWorkers } from "./workers.ts";

/** The short version; `npm run test:workers` kills 100 under 200 streams. */
describe("processes of one service", () => {
  it("killed under their streams: no run is lost, no stream has a gap, no tool runs twice", async function () {
    this.timeout(180_000);
    const { violations, kills } = await killWorkers({ engine: "sqlite", processes: 2, kills: 3, streams: 12, seed: 3 });
    expect(violations).to.deep.equal([]);
    expect(kills).to.equal(3);
  });
});
