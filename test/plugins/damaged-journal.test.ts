import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import pg from "pg";
import type { Journal } from "../../src/core/journal/journal.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { Worker } from "../../src/journal/worker.ts";
import { claimed, collect, finished, freshRun, pair, started } from "../journal/setup.ts";
import { openJournal } from "./postgres/open.ts";
import { freshSchema, sharedCluster } from "./postgres/shared.ts";
import { freshFile, openFile, temporaryFolder } from "./sqlite/folder.ts";

interface Engine {
  open(): Promise<Journal>;
  /** Runs SQL beside the journal; `$` stands for the schema. */
  sql(text: string): Promise<void>;
}

const request = { agent: "a", input: { text: "hi" } };
const event = (run: string, seq: number, body: EventBody) => ({ ...body, run, seq, at: 1 }) as RunEvent;

function suite(name: string, engine: () => Promise<Engine>): void {
  describe(`${name} with damaged rows`, () => {
    async function setUp(): Promise<{ journal: Journal; engine: Engine; bad: string; good: string }> {
      const made = await engine();
      const journal = await made.open();
      const [bad, good] = [freshRun(), freshRun()];
      await journal.enqueue({ run: bad, tenant: "default", session: undefined, request });
      await journal.enqueue({ run: good, tenant: "default", session: undefined, request });
      return { journal, engine: made, bad, good };
    }

    it("a request that cannot be read ends its run; others are claimed, listed and finished", async () => {
      const { journal, engine, bad, good } = await setUp();
      const table = name === "sqlite" ? "requests" : "$runs";
      const where = name === "sqlite" ? `run = (SELECT id FROM runs WHERE run = '${bad}')` : `run = '${bad}'`;
      for (const text of ["{", "null", '"x"']) {
        await engine.sql(`UPDATE ${table} SET request = '${text}' WHERE ${where}`);
        expect((await journal.list({})).runs.map(({ run }) => run)).to.deep.equal([good, bad]);
      }
      const { committer, followers } = pair(journal);
      const worker = new Worker({
        journal,
        committer,
        execute: async ({ log }) => {
          await log.step(started());
          await log.step(finished());
        },
      });
      await worker.start();
      expect((await collect(followers.follow(good))).at(-1)?.type).to.equal("run.finished");
      const told = await collect(followers.follow(bad));
      expect(told.map(({ type }) => type)).to.deep.equal(["run.started", "run.failed"]);
      expect(told.at(-1)).to.have.nested.property("error.code", "record_invalid");
      await worker.stop();
      await journal.close();
    });

    it("a record that cannot be read is reported to its reader, and no other reader waits for it", async () => {
      const { journal, engine } = await setUp();
      const runs = [];
      for (let count = 0; count < 3; count++) {
        const { ownership } = await claimed(journal);
        await journal.append([{ ownership, events: [event(ownership.run, 1, started())] }]);
        runs.push(ownership.run);
      }
      const [damaged = "", whole = ""] = runs;
      const records = name === "sqlite" ? "records" : "$records";
      const table = name === "sqlite" ? "runs" : "$runs";
      await engine.sql(
        `UPDATE ${records} SET body = '{"type":' WHERE run = (SELECT id FROM ${table} WHERE run = '${damaged}')`,
      );
      const failure = await journal.read(damaged, 0, 10).catch((thrown) => thrown);
      expect(failure).to.include({ code: "record_invalid" });
      const { followers } = pair(journal);
      const [first, second] = await Promise.allSettled([
        followers.follow(damaged).next(),
        followers.follow(whole).next(),
      ]);
      expect(first).to.have.nested.property("reason.code", "record_invalid");
      expect(second).to.have.property("status", "fulfilled");
      followers.close();
      await journal.close();
    });

    it("what it can never store is refused permanently, not as an outage", async () => {
      const { journal } = await setUp();
      const lone = "\ud800";
      const outcome = await journal
        .enqueue({ run: freshRun(), tenant: "default", session: `nul\0 ${lone}`, request })
        .then(
          () => "stored",
          (thrown) => thrown.code,
        );
      expect(outcome).to.be.oneOf(["stored", "record_invalid"]);
      await journal.close();
    });
  });
}

const folder = temporaryFolder();
suite("sqlite", async () => {
  const file = freshFile(folder);
  return {
    open: () => openFile(file),
    async sql(text) {
      const database = new DatabaseSync(file, { timeout: 5_000 });
      database.exec(text);
      database.close();
    },
  };
});

suite("postgres", async () => {
  const { url } = await sharedCluster();
  const schema = freshSchema();
  return {
    open: async () => openJournal(url, schema),
    async sql(text) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(text.replaceAll("$", `${schema}.`));
      await client.end();
    },
  };
});
