import { expect } from "chai";
import plugin from "../../../plugins/sqlite/index.ts";
import { testPluginContext } from "../../../src/testing.ts";
import { freshFile, temporaryFolder } from "./folder.ts";

describe("sqlite's threads", () => {
  const folder = temporaryFolder();

  /** Threads that the journal has started once it was written and read. */
  async function started(shortLived: boolean): Promise<number> {
    const before = threads();
    const options = plugin.options.parse({ path: freshFile(folder) });
    const journal = await plugin.create(options, { ...testPluginContext({ name: "journal" }), shortLived });
    try {
      await journal.keyValues?.put("space", { key: "a", value: "1", version: 0 });
      expect((await journal.keyValues?.get("space", "a"))?.value).to.equal("1");
      return threads() - before;
    } finally {
      await journal.close?.();
    }
  }

  it("are one for writes and one for reads", async () => {
    expect(await started(false)).to.equal(2);
  });

  it("are not started where the process is short-lived", async () => {
    expect(await started(true)).to.equal(0);
  });
});

const threads = (): number => {
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  report.excludeNetwork = true; // Looking up the names of addresses can take seconds.
  return (report.getReport() as unknown as { workers: unknown[] }).workers.length;
};
