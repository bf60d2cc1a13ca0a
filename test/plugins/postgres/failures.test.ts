import { expect } from "chai";
import pg from "pg";
import { Database } from "../../../plugins/postgres/database.ts";
import plugin from "../../../plugins/postgres/index.ts";
import { PostgresJournal } from "../../../plugins/postgres/journal.ts";
import { migrations } from "../../../plugins/postgres/migrations.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { Committer } from "../../../src/journal/committer.ts";
import { Followers } from "../../../src/journal/followers.ts";
import { claimed, end, finish, put, text } from "../../../src/testing/journal-bench.ts";
import { freePort } from "../../chaos/port.ts";
import { Wire } from "../../chaos/wire.ts";
import { Cluster } from "./cluster.ts";
import { openJournal } from "./open.ts";
import { freshSchema, sharedCluster } from "./shared.ts";

const context = {
  name: "journal",
  log: silentLog,
  clock: systemClock,
  folder: process.cwd(),
  runs: () => {
    throw new Error("not here");
  },
  resolve: () => {
    throw new Error("there is no container here");
  },
  plugin: () => Promise.reject(new Error("not here")),
};

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

describe("postgres migrations", () => {
  for (let version = 0; version < migrations.length; version++) {
    it(`bring a schema of version ${version} up to date`, async () => {
      const { url } = await sharedCluster();
      const schema = freshSchema();
      const old = migrations.slice(0, version).map((migration) => migration.replaceAll("$.", `${schema}.`));
      const setup = [
        `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.journal (version integer NOT NULL)`,
        `INSERT INTO ${schema}.journal VALUES (${version})`,
        ...old,
      ];
      await query(url, setup.join(";\n"));
      const journal = openJournal(url, schema);
      const { ownership } = await claimed(journal);
      expect(await put(journal, ownership, [text("a")])).to.equal(true);
      await journal.keepWire(ownership.run, { round: 1, attempt: 1, wire: "w", bytes: new Uint8Array([1]) });
      expect(await finish(journal, ownership)).to.equal(true);
      await journal.close();
    });
  }

  it("of many replicas that start at once happen once", async () => {
    const { url } = await sharedCluster();
    const schema = freshSchema();
    const journals = Array.from({ length: 5 }, () => openJournal(url, schema));
    await Promise.all(journals.map((journal) => journal.ping()));
    await Promise.all(journals.map((journal) => journal.close()));
  });

  it("a schema of a newer version is refused when the plugin is made", async () => {
    const { url } = await sharedCluster();
    const schema = freshSchema();
    const journal = openJournal(url, schema);
    await journal.ping();
    await journal.close();
    await query(url, `UPDATE ${schema}.journal SET version = 99`);
    const options = plugin.options.parse({ url, schema });
    const error = await Promise.resolve(plugin.create(options, context)).catch((thrown) => thrown);
    expect(error).to.include({ code: "journal_failed" });
    expect(error.message).to.include("newer Venturi (journal version 99");
  });
});

describe("postgres failures", function () {
  this.timeout(180_000);

  it("a database that is down at the start is waited for", async () => {
    const port = await freePort();
    const url = `postgres://venturi@127.0.0.1:${port}/postgres`;
    const options = plugin.options.parse({ url, connectTimeout: 500 });
    const journal = await plugin.create(options, context);
    const error = await journal.ping().catch((thrown) => thrown);
    expect(error).to.include({ code: "journal_failed" });
    expect(error.message).to.include("cannot be reached");
    await journal.close();
  });

  it("a wrong password or database is reported at once, without the password", async () => {
    const { port } = await sharedCluster();
    const url = `postgres://venturi:topsecret@127.0.0.1:${port}/nothing`;
    const error = await Promise.resolve(plugin.create(plugin.options.parse({ url }), context)).catch(
      (thrown) => thrown,
    );
    expect(error.message).to.include("the database does not exist; create it, or check journal.url");
    expect(JSON.stringify(error)).not.to.include("topsecret");
  });

  it("an invalid address is reported at once, without the password", async () => {
    const url = "postgres://venturi:topsecret@127.0.0.1:port/postgres";
    const error = await Promise.resolve(plugin.create(plugin.options.parse({ url }), context)).catch(
      (thrown) => thrown,
    );
    expect(error).to.include({ code: "journal_failed" });
    expect(error.message).to.include("journal.url is not a database URL; write postgres://");
    expect(JSON.stringify(error)).not.to.include("topsecret");
  });

  it("a full queue of notifications makes runs wait, and is used again once it was read", async () => {
    const cluster = await Cluster.start("off", { max_notify_queue_pages: 64 });
    const listener = new pg.Client({ connectionString: cluster.url });
    try {
      const journal = openJournal(cluster.url, "j");
      const { ownership } = await claimed(journal);
      await listener.connect();
      await listener.query("LISTEN somewhere");
      await listener.query("BEGIN; SELECT 1");
      const fill = `DO $$ BEGIN LOOP PERFORM pg_notify('somewhere', repeat('a', 7000)); COMMIT; END LOOP; END $$`;
      expect((await query(cluster.url, fill).catch((thrown) => thrown)).message).to.include("too many notifications");
      const error = await put(journal, ownership, [text("lost")]).catch((thrown) => thrown);
      expect(error).to.include({ code: "journal_failed" });
      expect(error.message).to.include("its queue of notifications is full");
      const committer = new Committer({ journal });
      const durable = committer.openLog(ownership).step(text("a"));
      await listener.query("COMMIT");
      await durable;
      expect(await journal.read(ownership.run, 0, 10)).to.have.length(1);
      committer.close();
      await journal.close();
    } finally {
      await listener.end();
      await cluster.stop();
    }
  });

  it("a crash in the middle makes runs wait; nothing acknowledged is lost, followers go on", async () => {
    const cluster = await Cluster.start();
    try {
      const journal = openJournal(cluster.url, "j");
      const followers = new Followers({ journal });
      const committer = new Committer({ journal, listener: followers });
      const { ownership } = await claimed(journal);
      const log = committer.openLog(ownership);
      const remote = openJournal(cluster.url, "j");
      const elsewhere = new Followers({ journal: remote, poll: 100 });
      const seen: number[] = [];
      const following = (async () => {
        for await (const batch of elsewhere.follow(ownership.run)) seen.push(...batch.map((event) => event.seq));
      })();
      for (let n = 0; n < 20; n++) {
        if (n === 7 || n === 13) {
          await cluster.crash();
          setTimeout(() => cluster.up(), 300);
        }
        await log.step(text(`${n}`));
      }
      await log.step({ ...end });
      await following;
      expect(seen).to.deep.equal(Array.from({ length: 21 }, (_, n) => n + 1));
      await remote.close();
      await journal.close();
    } finally {
      await cluster.stop();
    }
  });

  it("a black-holed connection is given up after the timeout, and an append it swallowed is settled by what is there", async () => {
    const cluster = await sharedCluster();
    const wire = await Wire.to(cluster.port);
    const schema = freshSchema();
    const direct = openJournal(cluster.url, schema);
    const { ownership } = await claimed(direct);
    const journal = openJournal(cluster.urlAt(wire.port), schema, { timeout: 400, connectTimeout: 400 });
    const committer = new Committer({ journal });
    const log = committer.openLog(ownership);
    await log.step(text("before"));
    // The request gets through, the answer does not: the one case in which nobody can know without looking.
    wire.swallowAnswers();
    const step = log.step(text("swallowed"));
    setTimeout(() => wire.pass(), 600);
    await step;
    await log.step({ ...end });
    expect((await direct.read(ownership.run, 0, 10)).map((event) => event.seq)).to.deep.equal([1, 2, 3]);
    await journal.close();
    await direct.close();
    await wire.close();
  });
});

describe("postgres connections", () => {
  it("outlive an enqueue that is refused", async () => {
    const { url } = await sharedCluster();
    const schema = freshSchema();
    const database = new Database({ url, schema, pool: 4, connectTimeout: 30_000, timeout: 60_000, pooler: false });
    const journal = new PostgresJournal(database, { lease: 30_000, pooler: false, poll: 50 });
    let lost = 0;
    database.lost.add(() => lost++);
    const request = { agent: "a", input: { text: "x" } };
    const item = { tenant: "default", session: "s", request, whenBusy: "conflict" } as const;
    await journal.enqueue({ ...item, run: "first" });
    const refused = await journal.enqueue({ ...item, run: "second" }).catch((thrown: unknown) => thrown);
    expect(refused).to.have.property("code", "conflict");
    expect(lost).to.equal(0);
    await journal.close();
  });
});
