import { strict as assert } from "node:assert";
import { appendCases } from "./journal-append.ts";
import { JournalBench, type JournalSubject } from "./journal-bench.ts";
import { blobCases } from "./journal-blobs.ts";
import { claimFilterCases } from "./journal-claim-filters.ts";
import { claimCases } from "./journal-claims.ts";
import { digestCases } from "./journal-digests.ts";
import { keyValueCases } from "./journal-key-values.ts";
import { moneyCases } from "./journal-money.ts";
import { readCases } from "./journal-read.ts";
import { restoreCases } from "./journal-restore.ts";
import { signalCases } from "./journal-signals.ts";
import { tenantCases } from "./journal-tenants.ts";
import { totalsCases } from "./journal-totals.ts";

/** The contract of every journal, as mocha cases. Each rule was a bug in some journal before it was a rule. */
export function journalContract(name: string, subject: JournalSubject): void {
  describe(`journal contract: ${name}`, () => {
    const bench = new JournalBench(subject);
    afterEach(() => bench.close());

    appendCases(bench);
    claimCases(bench);
    claimFilterCases(bench);
    tenantCases(bench);
    signalCases(bench);
    readCases(bench);
    restoreCases(bench);
    blobCases(bench);
    digestCases(bench);
    totalsCases(bench);
    keyValueCases(bench);
    moneyCases(bench);

    it("answers a ping, also one that stores something, and rejects everything with journal_failed once closed", async () => {
      const journal = await bench.open();
      await journal.ping();
      await Promise.all([journal.ping(32_768), journal.ping(32_768), journal.ping(1_048_576)]);
      await journal.close();
      for (const ask of [
        () => journal.ping(),
        () => journal.ping(1),
        () => journal.read("r", 0, 1),
        async () => journal.append([]),
      ]) {
        await assert.rejects(ask(), { code: "journal_failed" });
      }
    });
  });
}
