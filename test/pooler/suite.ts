import { expect } from "chai";
import pg from "pg";
import { journalContract } from "../../src/testing/journal.ts";
import { claimed, finish, put, text } from "../../src/testing/journal-bench.ts";
import { Cluster } from "../plugins/postgres/cluster.ts";
import { openJournal } from "../plugins/postgres/open.ts";
import { Bouncer, bouncerVersion } from "./bouncer.ts";
import { streaming } from "./streaming.ts";

const version = bouncerVersion();
let cluster: Cluster;
let bouncer: Bouncer;
let schema = "";
let count = 0;

before(async () => {
  cluster = await Cluster.start();
  bouncer = await Bouncer.start(cluster);
});

after(async () => {
  await bouncer?.stop();
  await cluster?.stop();
});

journalContract(`postgres behind ${version}`, {
  async open(options) {
    schema = `pooler_${++count}`;
    const journal = openJournal(bouncer.url, schema, { ...options, pooler: true });
    await journal.ping();
    return journal;
  },
  reopen: async (options) => openJournal(bouncer.url, schema, { ...options, pooler: true }),
});

describe(`postgres behind ${version}`, function () {
  this.timeout(180_000);

  it("leaves nothing behind in the sessions it shares with others", async () => {
    const journal = openJournal(bouncer.url, "sessions", { pooler: true });
    journal.onHint(() => {});
    const { ownership } = await claimed(journal, { session: "s" });
    await put(journal, ownership, [text("a")]);
    await finish(journal, ownership);
    const clients = Array.from({ length: Bouncer.servers }, () => new pg.Client({ connectionString: bouncer.url }));
    const sessions = new Set<number>();
    for (const client of clients) {
      await client.connect();
      // The transaction holds on to its session, so that the next client gets another one.
      await client.query("BEGIN");
      const { rows } = await client.query(
        `SELECT pg_backend_pid() AS session,
        (SELECT array_agg(name) FROM pg_prepared_statements) AS prepared,
        (SELECT array_agg(channel) FROM pg_listening_channels() AS channel) AS listening,
        (SELECT array_agg(objid) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks,
        (SELECT array_agg(name) FROM pg_settings WHERE source = 'session' AND name <> ALL ($1)) AS settings`,
        [
          [
            "client_encoding",
            "DateStyle",
            "TimeZone",
            "standard_conforming_strings",
            "application_name",
            "IntervalStyle",
          ],
        ],
      );
      const { session, ...left } = rows[0];
      sessions.add(session);
      expect(left).to.deep.equal({ prepared: null, listening: null, locks: null, settings: null });
    }
    expect(sessions.size).to.equal(Bouncer.servers);
    for (const client of clients) await client.end();
    await journal.close();
  });

  it("who forgets to set `pooler` gets an error that says so", async () => {
    const journals = [1, 2].map(() => openJournal(bouncer.url, "forgotten"));
    const beats = journals.flatMap((journal) => Array.from({ length: 8 }, (_, n) => journal.heartbeat(`worker-${n}`)));
    const outcomes = await Promise.allSettled(beats);
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    expect(failed?.reason.message).to.include("set journal.pooler to true");
    for (const journal of journals) await journal.close();
  });

  it("in session mode nothing has to be set, and what another replica writes is heard of at once", async () => {
    const sessions = await Bouncer.start(cluster, "session");
    const [writer, reader] = [openJournal(sessions.url, "session"), openJournal(sessions.url, "session")];
    const { ownership } = await claimed(writer);
    await new Promise<void>((resolve) => {
      reader.onHint(() => resolve()); // the first one comes when it listens
    });
    const heard = new Promise<boolean>((resolve) => {
      reader.onHint((hint) => resolve(hint.events(ownership.run)));
    });
    await put(writer, ownership, [text("a")]);
    expect(await heard).to.equal(true);
    await writer.close();
    await reader.close();
    await sessions.stop();
  });

  it("replicas stream through it; it and the database crash, and no client sees anything of it", async () => {
    const report = await streaming({ cluster, bouncer, runs: 60, clients: 15, seed: 3 });
    const { violations, ...figures } = report;
    process.stdout.write(`      ${JSON.stringify(figures)}\n`);
    expect(violations).to.deep.equal([]);
    expect(report.runs).to.equal(60);
  });
});
