import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Append, Journal } from "../../src/core/journal/journal.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";
import { claimOf, finished, PlainLog, started } from "./drive.ts";
import { OpenSpans } from "./open-spans.ts";

describe("an append that the journal refuses", () => {
  for (const how of ["at once", "later"]) {
    it(`${how}, and takes at the third try, is measured from the first on; each try that failed is a span`, async () => {
      const spans = new OpenSpans();
      const telemetry = await createTelemetry(defaultSettings, { log: silentLog, spanProcessors: [spans] });
      let tries = 0;
      const refuse = (): never => {
        throw new VenturiError("journal.append", "journal_failed", "the disk is full");
      };
      const take = async () => (++tries < 3 ? refuse() : new Set());
      const append = how === "later" ? take : () => (++tries < 3 ? refuse() : new Set());
      const journal = telemetry.journal({ lease: 1, append } as unknown as Journal); // no more of it is called
      const plain = new PlainLog("run-1");
      const log = telemetry.runLog(plain, claimOf(plain), []);
      await log.step(started);
      const batch: Append[] = [{ ownership: plain.ownership, events: plain.events.slice() }];
      const attempt = async () => await journal.append(batch);
      for (let n = 0; n < 2; n++) await attempt().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 60)); // the wait before the next try
      await attempt();
      await journal.append([{ ownership: plain.ownership, events: plain.events.slice() }]);
      await log.step(finished);
      const appends = spans.named("venturi.journal.append");
      const failed = appends.filter(({ attributes }) => attributes["error.type"] === "journal_failed");
      expect(failed.map(({ attributes }) => attributes["venturi.journal.try"])).to.deep.equal([1, 2]);
      expect(failed.every(({ status }) => status.code === 2)).to.equal(true);
      const seconds = ({ duration: [whole, nanos] }: (typeof appends)[number]) => whole + nanos / 1e9;
      const long = appends.filter((span) => !failed.includes(span)).map(seconds);
      expect(long).to.have.length(2);
      expect(long[0]).to.be.above(0.05);
      expect(long[1]).to.be.below(long[0] ?? 0);
      const text = await telemetry.metrics();
      expect(text).to.match(/^venturi_journal_append_duration_seconds_count\{error_type="journal_failed"\} 2$/m);
      expect(text).to.match(/^venturi_journal_append_duration_seconds_count 2$/m);
      expect(Number(/^venturi_journal_append_duration_seconds_sum (\S+)$/m.exec(text)?.[1])).to.be.above(0.05);
      await telemetry.close();
    });
  }
});
