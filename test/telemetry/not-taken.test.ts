import { expect } from "chai";
import type { Journal } from "../../src/core/journal/journal.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { blockRows } from "../../src/telemetry/otlp/rows.ts";
import { Ring } from "../../src/telemetry/sdk/ring.ts";
import { claimOf, finished, generate, PlainLog, roundStarted, started, wireProvider } from "./drive.ts";
import { Receiver } from "./receiver.ts";

describe("spans that nothing takes", () => {
  const { block } = Ring.prototype;
  let blocks: string[];
  beforeEach(() => {
    blocks = [];
    Ring.prototype.block = function (run, rows) {
      blocks.push(run);
      block.call(this, run, rows);
    };
  });
  afterEach(() => {
    Ring.prototype.block = block;
  });

  /** Of an old run once a newer one has taken its place in the ring. */
  const blocksOfOldRun = async (endpoint: string): Promise<number> => {
    const settings = { ...defaultSettings, ring: 1, otlp: { endpoint, headers: {} } };
    const telemetry = await createTelemetry(settings, { log: silentLog });
    try {
      const journal = telemetry.journal({ append: async () => new Set() } as Partial<Journal> as Journal);
      const [old, newer] = [new PlainLog("old"), new PlainLog("newer")];
      old.flush = async () => {
        await journal.append([{ ownership: old.ownership, events: old.events.slice(-1) }]);
      };
      const log = telemetry.runLog(old, claimOf(old), []);
      await log.step(started);
      log.write(roundStarted(1));
      await telemetry.runLog(newer, claimOf(newer), []).step(started);
      const provider = telemetry.provider("demo", "openai", wireProvider({ chunks: 4 * blockRows }));
      await generate(provider, "old", 1);
      for (let count = 0; count < 4 * blockRows; count++) await log.step(roundStarted(1));
      await log.step(finished);
      expect(telemetry.trace("old")).to.equal(undefined);
      expect(telemetry.trace("newer")).to.equal(undefined); // nothing of it has ended
      return blocks.filter((run) => run === "old").length;
    } finally {
      await telemetry.close();
    }
  };

  it("are not recorded once the run has left the ring", async () => {
    expect(await blocksOfOldRun("")).to.equal(0);
  });

  it("are recorded to the end where they are exported", async () => {
    const receiver = await Receiver.start();
    try {
      expect(await blocksOfOldRun(receiver.endpoint)).to.be.at.least(8);
      const names = receiver.spans.map(({ name }) => name);
      for (const name of ["venturi.chunk", "venturi.journal.append"])
        expect(names.filter((one) => one === name).length).to.be.at.least(4 * blockRows);
    } finally {
      await receiver.stop();
    }
  });
});
