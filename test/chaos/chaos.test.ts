import { expect } from "chai";
import { chaos } from "./chaos.ts";

/** The short version; `npm run test:chaos` takes its time. */
describe("chaos", () => {
  for (const engine of ["sqlite", "postgres"] as const) {
    it(`${engine}: replicas killed and frozen, an engine that fails, and no client sees anything of it`, async function () {
      this.timeout(180_000);
      const { violations, runs, windows } = await chaos({ engine, runs: 12, clients: 12, seed: 4, trouble: 6_000 });
      console.log(`      zombies: ${JSON.stringify(windows)}`);
      expect(violations).to.deep.equal([]);
      expect(runs).to.equal(12);
    });
  }
});
