import { expect } from "chai";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { openHost } from "../../../src/host/open.ts";
import { indexOnce } from "../../../src/host/recordings/reindex.ts";
import { testFolder } from "../folder.ts";

describe("runs of an earlier version", () => {
  const folder = testFolder();

  it("are found by their tools soon after the start, once, and a line says so", async () => {
    const configFile = folder.write({
      "venturi.yaml": `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools: { calculator: { type: calculator } }
agents: { a: { model: demo/small, tools: [calculator] } }
journal: { type: sqlite, path: ./runs.db }
channels: {}
telemetry: off
`,
    });
    const host = await openHost({ configFile, env: {}, log: silentLog });
    const { run } = await host.runs.start({ agent: "a", input: { text: "What is 17 * 23?" } });
    for await (const _batch of host.runs.follow(run));
    await host.close();
    // As it was before digests were kept.
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(folder.path("runs.db"));
    database.exec("DELETE FROM digests; DELETE FROM key_values");
    database.close();
    const again = await openHost({ configFile, env: {}, log: silentLog });
    const found = async () => (await again.runs.list({ tool: "calculator" })).runs.map((row) => row.run);
    expect(await found()).to.deep.equal([]);
    const lines: unknown[] = [];
    const log = { ...silentLog, info: (message: string, fields?: object) => void lines.push({ message, ...fields }) };
    const parts = { journal: again.journal, log, priceOf: () => undefined };
    // The clock calls back at once.
    const clock = {
      ...systemClock,
      after: (_ms: number, done: () => void) => {
        queueMicrotask(done);
        return () => {};
      },
    };
    const stop = indexOnce({ ...parts, clock });
    while ((await found()).length === 0) await new Promise((resolve) => setImmediate(resolve));
    while (lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await stop();
    expect(await found()).to.deep.equal([run]);
    expect(lines[0]).to.include({ message: "runs of an earlier version were indexed", written: 1, unreadable: 0 });
    await indexOnce({ ...parts, clock })();
    expect(lines).to.have.length(1);
    await again.close();
  });
});
