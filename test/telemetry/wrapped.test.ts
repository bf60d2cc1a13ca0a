import { expect } from "chai";
import { MemoryJournal } from "../../plugins/memory/journal.ts";
import type { Journal } from "../../src/core/journal/journal.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Runs } from "../../src/core/ports/runs.ts";
import { CallerRuns } from "../../src/host/access/caller-runs.ts";
import { createTelemetry, defaultSettings } from "../../src/telemetry/index.ts";

/** Optional methods included: what a wrapper leaves out, the service takes for something its journal cannot do. */
const methodsOf = (made: { readonly prototype: object }): string[] =>
  Object.getOwnPropertyNames(made.prototype).filter((name) => name !== "constructor");

describe("a port behind telemetry", () => {
  it("has every method that it has without", async () => {
    const telemetry = await createTelemetry(defaultSettings, { log: silentLog });
    try {
      const everything = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, () => undefined]));
      const journal = methodsOf(MemoryJournal);
      const runs = methodsOf(CallerRuns);
      expect(journal).to.include.members(["reserve", "balances", "usage"]);
      expect(runs).to.include.members(["tokenRate", "doing", "prompt"]);
      expect(telemetry.journal(everything(journal) as unknown as Journal)).to.include.keys(journal);
      expect(telemetry.runs(everything(runs) as unknown as Runs)).to.include.keys(runs);
    } finally {
      await telemetry.close();
    }
  });
});
