import { expect } from "chai";
import type { Journal } from "../../src/core/journal/journal.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { pageBytes } from "../../src/core/run/page.ts";
import { exportRun } from "../../src/journal/export.ts";
import { claimed, collect, delta, finished, freshRun, memory, pair, seqs, started, upTo } from "../journal/setup.ts";
import { openJournal } from "./postgres/open.ts";
import { freshSchema, sharedCluster } from "./postgres/shared.ts";
import { freshFile, openFile, temporaryFolder } from "./sqlite/folder.ts";

const big = "x".repeat(pageBytes / 4);
const event = (run: string, seq: number, body: EventBody) => ({ ...body, run, seq, at: 1 }) as RunEvent;

const folder = temporaryFolder();
const engines: Readonly<Record<string, () => Promise<Journal>>> = {
  memory: async () => memory(),
  sqlite: () => openFile(freshFile(folder)),
  postgres: async () => openJournal((await sharedCluster()).url, freshSchema()),
};

for (const [name, open] of Object.entries(engines)) {
  describe(`pages of ${name}`, () => {
    it("a list is bounded in bytes, and its cursor leads to all the rest, in both orders", async () => {
      const journal = await open();
      const runs = Array.from({ length: 11 }, freshRun);
      for (const run of runs)
        await journal.enqueue({
          run,
          tenant: "t",
          session: undefined,
          request: { agent: "a", input: {}, metadata: { big } },
        });
      for (const oldestFirst of [true, false]) {
        const found: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await journal.list({ limit: 200, oldestFirst, ...(cursor === undefined ? {} : { cursor }) });
          expect(JSON.stringify(page).length).to.be.below(1.3 * pageBytes);
          expect(page.runs).to.not.have.length(0);
          found.push(...page.runs.map(({ run }) => run));
          cursor = page.cursor;
        } while (cursor !== undefined);
        expect(found).to.deep.equal(oldestFirst ? runs : runs.toReversed());
      }
      await journal.close();
    });

    it("a run of large events is read, followed and exported whole", async () => {
      const journal = await open();
      const { ownership } = await claimed(journal);
      const { run } = ownership;
      const bodies = [started(), ...Array.from({ length: 11 }, () => delta(big)), finished()];
      for (const [index, body] of bodies.entries()) {
        const events = [event(run, index + 1, body)];
        await journal.append([{ ownership, events, ...(index === 12 ? { state: "done" as const } : {}) }]);
        ownership.head = index + 1;
      }
      if (name !== "memory") expect(await journal.read(run, 0, 1_000)).to.have.length.within(1, 6);
      const { followers } = pair(journal);
      expect(seqs(await collect(followers.follow(run)))).to.deep.equal(upTo(13));
      let lines = 0;
      for await (const _line of exportRun(journal, run)) lines += 1;
      expect(lines).to.equal(14);
      await journal.close();
    });
  });
}
