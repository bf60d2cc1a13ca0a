import { expect } from "chai";
import type { Deps } from "../../../plugins/sqlite/deps.ts";
import plugin from "../../../plugins/sqlite/index.ts";
import type { Asked } from "../../../plugins/sqlite/store-thread.ts";
import { testPluginContext } from "../../../src/testing.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";
import { sharedThreads } from "./shared-threads.ts";

describe("sqlite's second thread", () => {
  const folder = temporaryFolder();
  let asked: string[];
  const noted: Deps = {
    ...sharedThreads,
    connect({ role, ...options }, listener) {
      const thread = sharedThreads.connect({ ...options, role }, listener);
      const ask: Asked["ask"] = (operation, ...args) => {
        asked.push(`${role} ${operation}`);
        return thread.ask(operation, ...args);
      };
      return { ask, close: () => thread.close() };
    },
  };
  beforeEach(() => {
    asked = [];
  });

  it("is not started by a look at a key-value, and answers all of them once it is", async () => {
    const journal = await openFile(freshFile(folder), {}, noted);
    try {
      await journal.keyValues.put("space", { key: "a", value: "1", version: 0 });
      expect((await journal.keyValues.get("space", "a"))?.value).to.equal("1");
      expect(await journal.get("run_of_nobody")).to.equal(undefined);
      expect((await journal.keyValues.get("space", "a"))?.value).to.equal("1");
      expect(asked).to.deep.equal(["all ping", "all putValues", "all getValue", "reads get", "reads getValue"]);
    } finally {
      await journal.close();
    }
  });

  it("is not needed to open a file", async () => {
    const before = threads();
    const options = plugin.options.parse({ path: freshFile(folder) });
    const journal = await plugin.create(options, testPluginContext({ name: "journal" }));
    try {
      expect(threads() - before).to.equal(1);
    } finally {
      await journal.close?.();
    }
  });

  it("nor is the first where the process is short-lived", async () => {
    const before = threads();
    const options = plugin.options.parse({ path: freshFile(folder) });
    const journal = await plugin.create(options, { ...testPluginContext({ name: "journal" }), shortLived: true });
    try {
      await journal.keyValues?.put("space", { key: "a", value: "1", version: 0 });
      expect(await journal.get("run_of_nobody")).to.equal(undefined);
      expect(threads()).to.equal(before);
    } finally {
      await journal.close?.();
    }
  });
});

const threads = (): number => {
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  report.excludeNetwork = true; // Looking up the names of addresses can take seconds.
  return (report.getReport() as unknown as { workers: unknown[] }).workers.length;
};
