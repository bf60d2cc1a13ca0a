import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { agent, sqlite, tool } from "venturi";
import { z } from "zod";
import { say } from "../../src/testing/model.ts";
import { testVenturi } from "../../src/testing/venturi.ts";

describe("a paused run", () => {
  it("finishes its round, waits over a restart, and goes on when it is resumed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "venturi-pause-"));
    const journal = sqlite({ path: join(folder, "runs.db") });
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    let calls = 0;
    const slow = tool({
      name: "slow",
      description: "Takes its time",
      input: z.object({}),
      async call() {
        calls += 1;
        begun.resolve();
        await end.promise;
        return "at last";
      },
    });
    const worker = agent({ name: "worker", model: "anthropic/claude-sonnet-4-5", tools: [slow] });
    const first = await testVenturi({ agents: [worker], journal, script: [[say.call(0, "slow", {})]] });
    const run = await first.start(worker, "Go");
    await begun.promise;
    expect(await run.pause("for the night")).to.equal(true);
    end.resolve();
    for await (const event of run.events()) if (event.type === "run.paused") break;
    await first.close();

    const second = await testVenturi({ agents: [worker], journal, script: [["Done."]] });
    const again = await second.get(run.id);
    expect(await again.steer("Are you there?")).to.equal(true); // wakes it, and does not have it go on
    for await (const event of again.events()) if (event.type === "run.resumed") break;
    expect(second.requests).to.have.length(0);
    expect(await again.resume()).to.equal(true);
    const types: string[] = [];
    for await (const event of again.events()) types.push(event.type);
    expect(types.at(-1)).to.equal("run.finished");
    expect(types.filter((type) => type === "run.paused" || type === "run.continued")).to.deep.equal([
      "run.paused",
      "run.continued",
    ]);
    expect(types.indexOf("run.paused")).to.be.greaterThan(types.indexOf("round.finished"));
    expect(calls).to.equal(1);
    expect(JSON.stringify(second.requests)).to.contain("Are you there?");
    await second.close();
    rmSync(folder, { recursive: true });
  });
});
