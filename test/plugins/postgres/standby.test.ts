import { createServer } from "node:net";
import { expect } from "chai";
import { Database } from "../../../plugins/postgres/database.ts";
import { PostgresJournal } from "../../../plugins/postgres/journal.ts";
import { ReadReplica } from "../../../plugins/postgres/read-replica.ts";
import { Committer } from "../../../src/journal/committer.ts";
import { claimed, end, text } from "../../../src/testing/journal-bench.ts";
import { freePort } from "../../chaos/port.ts";
import { Cluster } from "./cluster.ts";
import { openJournal } from "./open.ts";
import { ask, makeSynchronous, promote, standbyOf } from "./standby.ts";

const connections = { pool: 4, connectTimeout: 30_000, timeout: 60_000, pooler: false };

/** Waits until the query has an answer. */
async function until(cluster: Cluster, query: string): Promise<void> {
  while ((await ask(cluster, query).catch(() => [])).length === 0) await new Promise((done) => setTimeout(done, 20));
}

describe("postgres with a standby", function () {
  this.timeout(180_000);
  let primary: Cluster;
  let standby: Cluster;

  before(async () => {
    primary = await Cluster.start("off", { wal_keep_size: "128MB" });
    standby = await standbyOf(primary, primary.port);
    await makeSynchronous(primary);
  });

  after(async () => {
    await standby?.stop();
    await primary?.stop();
  });

  const both = () => `postgres://venturi@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`;

  it("of several hosts the one that takes writes is used, wherever it stands", async () => {
    const journal = openJournal(both(), "j", { connectTimeout: 10_000 });
    const { ownership } = await claimed(journal);
    const rows = await ask(primary, "SELECT 1 FROM j.runs WHERE run = $1", [ownership.run]);
    expect(rows).to.have.length(1);
    await journal.close();
  });

  it("lists that may lag come from the read replica, others and those it cannot answer from the primary", async () => {
    const database = new Database({ url: primary.url, schema: "r", ...connections });
    const replica = new ReadReplica({ url: standby.url, ...connections });
    const journal = new PostgresJournal(database, { lease: 30_000, pooler: false, poll: 50, replica });
    const { ownership } = await claimed(journal);
    await until(standby, `SELECT 1 FROM r.runs WHERE run = '${ownership.run}'`);
    await ask(standby, "SELECT pg_wal_replay_pause()");
    await until(standby, "SELECT 1 WHERE pg_get_wal_replay_pause_state() = 'paused'");
    const later = await claimed(journal);
    const runsOf = async (mayLag: boolean) => (await journal.list({ mayLag })).runs.map(({ run }) => run);
    expect(await runsOf(true))
      .to.include(ownership.run)
      .and.not.to.include(later.ownership.run);
    expect(await runsOf(false)).to.include(later.ownership.run);
    await ask(standby, "SELECT pg_wal_replay_resume()");
    await journal.close();
    const gone = new ReadReplica({ url: `postgres://venturi@127.0.0.1:${await freePort()}/postgres`, ...connections });
    const without = new PostgresJournal(new Database({ url: primary.url, schema: "r", ...connections }), {
      lease: 30_000,
      pooler: false,
      poll: 50,
      replica: gone,
    });
    expect((await without.list({ mayLag: true })).runs.map(({ run }) => run)).to.include(later.ownership.run);
    await without.close();
  });

  it("a host that refuses the connection does not prevent using the others", async () => {
    const refusal = Buffer.from("E....SFATAL\0C28000\0Mno entry for you\0\0");
    refusal.writeUInt32BE(refusal.length - 1, 1);
    const server = createServer((socket) => socket.once("data", () => socket.end(refusal)));
    const port = await freePort();
    server.listen(port, "127.0.0.1");
    const journal = openJournal(`postgres://venturi@127.0.0.1:${port},127.0.0.1:${primary.port}/postgres`, "j");
    await journal.ping();
    await journal.close();
    const alone = openJournal(`postgres://venturi@127.0.0.1:${port},127.0.0.1:${port}/postgres`, "j");
    const error = await alone.ping().catch((thrown) => thrown);
    expect(error.message).to.include("it refuses the user or the password");
    expect(error.details).to.deep.equal({ unusable: true });
    await alone.close();
    server.close();
  });

  it("a standby alone is a journal that fails, not one that is ready", async () => {
    const journal = openJournal(standby.url, "j", { connectTimeout: 60_000 });
    const error = await journal.ping().catch((thrown) => thrown);
    expect(error).to.include({ op: "journal.ping", code: "journal_failed" });
    expect(error.message).to.include("a standby that has not been promoted yet");
    await journal.close();
  });

  it("a missing standby delays commits without piling up connections", async () => {
    const journal = openJournal(primary.url, "j", { timeout: 200, connectTimeout: 1_000 });
    const patient = openJournal(primary.url, "j");
    const log = new Committer({ journal }).openLog((await claimed(patient)).ownership);
    await patient.close();
    await standby.crash();
    const step = log.step(text("waits"));
    for (let beats = 0; beats < 8; beats++) {
      const error = await journal.heartbeat("worker-1").catch((thrown) => thrown);
      expect(error).to.include({ code: "journal_failed" });
    }
    const count = "SELECT count(*)::int AS open FROM pg_stat_activity WHERE application_name = 'venturi'";
    expect((await ask(primary, count))[0]?.open).to.be.at.most(6);
    await standby.up();
    await step;
    await journal.close();
  });

  it("the primary is killed and the standby promoted: runs wait, go on, and nothing acknowledged is lost", async () => {
    const journal = openJournal(both(), "j", { connectTimeout: 10_000 });
    const committer = new Committer({ journal });
    const { ownership } = await claimed(journal);
    const log = committer.openLog(ownership);
    for (let n = 0; n < 10; n++) await log.step(text(`${n}`));
    await primary.kill();
    // Its processes outlive it for a moment, and answer.
    while ((await journal.ping().catch((thrown) => thrown.code)) !== "journal_failed");
    const waiting = log.step(text("across"));
    await promote(standby);
    await waiting;
    await log.step({ ...end });
    await journal.ping();
    const stored = await journal.read(ownership.run, 0, 100);
    expect(stored.map((event) => event.seq)).to.deep.equal(Array.from({ length: 12 }, (_, n) => n + 1));
    await journal.close();
  });
});
