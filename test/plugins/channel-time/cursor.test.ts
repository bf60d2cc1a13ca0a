import { expect } from "chai";
import { RunCursor } from "../../../plugins/channel-time/cursor.ts";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";

describe("the cursor of webhooks", () => {
  const clock = new VirtualClock();
  const journal = new MemoryJournal({ clock, keep: 10_000, lease: 10_000 });
  const values = journal.keyValues;
  let count = 0;
  const add = async (number: number) => {
    for (let each = 0; each < number; each++) {
      const run = `run_${String(count++).padStart(4, "0")}`;
      await journal.enqueue({ run, tenant: "t", session: undefined, request: { agent: "a", input: { text: "Hi." } } });
    }
  };
  const open = async () => {
    const met: string[] = [];
    const passed: string[] = [];
    const target = {
      meet: async ({ run }: { run: string }) => void met.push(run),
      pass: async (run: string) => void passed.push(run),
    };
    const cursor = new RunCursor({ journal, values, clock }, target);
    await cursor.open();
    return { cursor, met, passed };
  };

  it("begins after the existing runs, reports each new one, and passes it half a minute later", async () => {
    await add(3);
    const { cursor, met, passed } = await open();
    await add(250);
    await cursor.advance();
    expect(met).to.have.length(250).and.not.include("run_0002");
    expect(passed).to.deep.equal([]);
    await clock.advance(31_000);
    await cursor.advance();
    expect(new Set(met).size).to.equal(250);
    expect(passed).to.have.length(200);
    expect(new Set(passed)).to.deep.equal(new Set(met.slice(0, 200)));
  });

  it("goes on from there in another process: what was passed is not met again", async () => {
    const { cursor, met, passed } = await open();
    await cursor.advance();
    expect(met).to.have.length(50);
    expect(met[0]).to.equal("run_0203");
    // The last step again, in case the process before ended within it.
    expect(passed).to.have.length(100);
  });

  it("refuses to move on when another replica has moved it", async () => {
    const [first, second] = [await open(), await open()];
    await add(100);
    for (const { cursor } of [first, second]) await cursor.advance();
    await clock.advance(31_000);
    await first.cursor.advance();
    const error = await second.cursor.advance().catch((thrown: { code: string }) => thrown);
    expect(error).to.include({ code: "conflict" });
  });
});
