import { copyFileSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import pg from "pg";
import plugin from "../../../plugins/postgres/index.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { freePort } from "../../chaos/port.ts";
import { Cluster } from "./cluster.ts";
import { sharedCluster } from "./shared.ts";
import { ask } from "./standby.ts";

const fixtures = join(process.cwd(), "test/plugins/postgres/fixtures");
const context = {
  name: "journal",
  log: silentLog,
  clock: systemClock,
  folder: fixtures,
  runs: () => {
    throw new Error("not here");
  },
  resolve: () => {
    throw new Error("there is no container here");
  },
  plugin: () => Promise.reject(new Error("not here")),
};

const open = async (options: Readonly<Record<string, unknown>>) =>
  plugin.create(plugin.options.parse({ connectTimeout: 30_000, ...options }), context);

const failure = (options: Readonly<Record<string, unknown>>) =>
  open(options).then(
    () => new Error("it was opened"),
    (thrown) => thrown,
  );

/** A server that takes nobody without TLS, and the user `certified` only with a certificate. */
async function secured(): Promise<Cluster> {
  const cluster = await Cluster.start();
  await ask(cluster, "CREATE ROLE certified LOGIN SUPERUSER");
  for (const name of ["server.pem", "server.key", "ca.pem"]) {
    copyFileSync(join(fixtures, name), join(cluster.data, name));
  }
  const rules = ["hostssl all venturi 127.0.0.1/32 trust", "hostssl all certified 127.0.0.1/32 cert"];
  writeFileSync(join(cluster.data, "pg_hba.conf"), `${rules.join("\n")}\n`);
  const settings = { ssl: "on", ssl_cert_file: "server.pem", ssl_key_file: "server.key", ssl_ca_file: "ca.pem" };
  for (const [name, value] of Object.entries(settings)) await ask(cluster, `ALTER SYSTEM SET ${name} = '${value}'`);
  await cluster.down();
  cluster.seize();
  await cluster.up();
  return cluster;
}

describe("postgres over TLS", () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await secured();
  });
  after(() => cluster?.stop());

  it("all connections are encrypted, the one that listens, too", async () => {
    const journal = await open({ url: cluster.url, schema: "one", tls: { ca: "ca.pem" } });
    await new Promise<void>((resolve) => {
      journal.onHint(() => resolve());
    });
    const client = new pg.Client({ connectionString: cluster.url, ssl: { rejectUnauthorized: false } });
    await client.connect();
    const { rows } = await client.query(
      "SELECT ssl, query LIKE 'LISTEN%' AS listens FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'venturi'",
    );
    await client.end();
    await journal.close();
    expect(rows.length).to.be.at.least(2);
    expect(rows.filter((row) => row.listens)).to.have.length(1);
    expect(rows.every((row) => row.ssl)).to.equal(true);
  });

  it("a certificate that the given authority has not signed is refused at the start", async () => {
    const error = await failure({ url: cluster.url, tls: { ca: "other-ca.pem" } });
    expect(error).to.include({ op: "journal.ping", code: "journal_failed" });
    expect(error.message).to.include("its certificate is not trusted").and.include("check journal.tls.ca");
  });

  it("without an authority those of the system count, and none of them has signed it", async () => {
    for (const options of [{ url: cluster.url, tls: true }, { url: `${cluster.url}?sslmode=require` }]) {
      expect((await failure(options)).message).to.include("its certificate is not trusted");
    }
  });

  it("a certificate for another name is refused, and the name it must carry can be given", async () => {
    const url = cluster.url.replace("127.0.0.1", "localhost");
    const error = await failure({ url, tls: { ca: "ca.pem" } });
    expect(error).to.include({ op: "journal.ping", code: "journal_failed" });
    expect(error.message).to.include("its certificate is for another name");
    const wrong = await failure({ url: cluster.url, tls: { ca: "ca.pem", servername: "other.test" } });
    expect(wrong.message).to.include("its certificate is for another name");
    await (await open({ url, schema: "two", tls: { ca: "ca.pem", servername: "journal.test" } })).close();
  });

  it("a server that requires TLS says so to clients without it", async () => {
    const error = await failure({ url: cluster.url });
    expect(error).to.include({ op: "journal.ping", code: "journal_failed" });
    expect(error.message).to.include("it asks for TLS").and.include("check journal.tls");
  });

  it("what the URL says does not turn off the TLS of the configuration", async () => {
    const journal = await open({ url: `${cluster.url}?sslmode=disable`, schema: "three", tls: { ca: "ca.pem" } });
    await journal.close();
  });

  it("a server without TLS gets nothing: not the user, not the password", async () => {
    const heard: Buffer[] = [];
    const port = await freePort();
    const server = createServer((socket: Socket) => {
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        heard.push(bytes);
        socket.write("N");
      });
    }).listen(port, "127.0.0.1");
    for (const tls of [true, { ca: "ca.pem" }]) {
      const error = await failure({ url: `postgres://venturi:topsecret@127.0.0.1:${port}/postgres`, tls });
      expect(error.message).to.include("it does not speak TLS");
    }
    server.close();
    // Twice the question whether it speaks TLS, and nothing else.
    expect(Buffer.concat(heard).toString("hex")).to.equal("0000000804d2162f".repeat(2));
  });

  it("a client shows its certificate when it has one", async () => {
    const url = cluster.url.replace("venturi@", "certified@");
    const tls = { ca: "ca.pem", cert: "client.pem", key: "client.key" };
    await (await open({ url, schema: "four", tls })).close();
    const error = await failure({ url, tls: { ca: "ca.pem" } });
    expect(error).to.include({ op: "journal.ping", code: "journal_failed" });
    expect(error.message).to.include("a client's certificate");
  });

  it("`tls: false` goes without, where that is allowed", async () => {
    const { url } = await sharedCluster();
    await (await open({ url: `${url}?sslmode=require`, schema: "plain", tls: false })).close();
  });

  it("a file that cannot be read is a mistake of the configuration", async () => {
    const error = await failure({ url: cluster.url, tls: { ca: "nothing.pem" } });
    expect(error).to.include({ code: "config_invalid" });
  });
});
