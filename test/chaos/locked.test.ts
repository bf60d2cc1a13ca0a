import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { RunEvent } from "../../src/core/run/events.ts";
import { type Engine, sqliteEngine } from "../outage/engines.ts";
import { eventsOf, startRun } from "./attached.ts";
import { Replica } from "./replica.ts";

describe("two processes on one file that a third one locks for longer than a lease", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-locked-"));
  const replicas: Replica[] = [];
  let engine: Engine | undefined;
  after(async () => {
    await engine?.close();
    await Promise.all(replicas.map((replica) => replica.kill()));
    rmSync(folder, { recursive: true, force: true });
  });

  it("keep their runs, lose nothing, and say that it was the journal", async () => {
    engine = await sqliteEngine(folder);
    const journal = { ...engine.journal, lease: "3s", busyTimeout: "200ms" };
    const options = { folder, effects: join(folder, "effects"), journal, wedged: 0 as const };
    for (const name of ["a", "b"]) replicas.push(await Replica.make(name, options));
    await Promise.all(replicas.map((replica) => replica.start()));
    const runs = await Promise.all(
      replicas.flatMap(({ url }) => Array.from({ length: 5 }, () => startRun(url, "story"))),
    );
    await engine.down();
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    await engine.up();
    for (const run of runs) {
      const events: RunEvent[] = [];
      for await (const event of eventsOf(replicas[0]?.url ?? "", run)) events.push(event);
      expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, index) => index + 1));
      expect(events.at(-1)?.type).to.equal("run.finished");
      expect(events.filter(({ type }) => type === "run.resumed")).to.deep.equal([]);
      const why = await (await fetch(`${replicas[1]?.url}/v1/runs/${run}/why`)).json();
      expect(why).to.include({ cause: "journal_failed" });
    }
  });
});
