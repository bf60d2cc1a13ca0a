import { createServer, type Socket } from "node:net";
import { expect } from "chai";
import { freePort } from "../chaos/port.ts";
import { NatsCluster } from "../plugins/nats/cluster.ts";
import { failureOf, jetstreamOf, openPlugin } from "../plugins/nats/plugin.ts";

describe("nats: what is looked at before it is used", () => {
  let one: NatsCluster;
  let three: NatsCluster;
  before(async function () {
    this.timeout(60_000);
    one = await NatsCluster.start();
    three = await NatsCluster.start({ size: 3, more: systemAccount });
  });
  after(() => Promise.all([one?.stop(), three?.stop()]));

  it("a server that acknowledges before it syncs is refused, with what to set; `unchecked` insists", async () => {
    const lazy = await NatsCluster.start({ sync: '"2m"' });
    try {
      const options = { servers: lazy.servers, replicas: 1, monitors: lazy.monitors };
      const error = await failureOf(options);
      expect(error).to.include({ op: "journal.ping", code: "journal_failed" });
      expect(error.message).to.include("acknowledges before it has synced").and.include("sync_interval: always");
      await (await openPlugin({ ...options, durability: "unchecked" })).close();
    } finally {
      await lazy.stop();
    }
  });

  it("without a way to see how the servers sync it does not start", async () => {
    const error = await failureOf({ servers: one.servers, replicas: 1 });
    expect(error.message).to.include("journal.monitors").and.include("journal.system").and.include("unchecked");
  });

  it("every server of the cluster must be seen, not only some", async () => {
    const credentials = { servers: three.servers, user: "app", password: "app" };
    const error = await failureOf({ ...credentials, monitors: three.monitors.slice(0, 2) });
    expect(error.message).to.include("2 of its 3 servers");
    await (await openPlugin({ ...credentials, monitors: three.monitors, space: "all" })).close();
  });

  it("the system account tells it, too, of every server; another account does not", async () => {
    const credentials = { servers: three.servers, user: "app", password: "app", space: "system" };
    await (await openPlugin({ ...credentials, system: { user: "sys", password: "sys" } })).close();
    const other = await failureOf({ ...credentials, system: { user: "app", password: "app" } });
    expect(other.message).to.include("is that the system account?");
    const wrong = await failureOf({ ...credentials, system: { user: "sys", password: "wrong" } });
    expect(wrong.message).to.include("journal.system").and.include("refuses the credentials");
  });

  it("an address for monitoring that does not answer is waited for", async () => {
    const journal = await openPlugin({ servers: one.servers, replicas: 1, monitors: ["http://127.0.0.1:1"] });
    const error = await journal.ping().catch((thrown) => thrown);
    expect(error.message).to.include("http://127.0.0.1:1").and.include("does not answer");
    await journal.close();
  });

  for (const [version, refused] of [
    ["2.9.10", true],
    ["2.11.11", true],
    ["2.12.1", true],
    ["2.12.2-RC.1", false],
    ["2.12.2", false],
    ["2.14.0", false],
    ["3.0.0", false],
  ] as const) {
    it(`version ${version} is ${refused ? "refused" : "taken"}`, async () => {
      const server = await serverOfVersion(version);
      const options = { servers: [`nats://127.0.0.1:${server.port}`], replicas: 1, durability: "unchecked" };
      const fast = { timeout: 300, requestTimeout: 100, connectTimeout: 1_000 };
      const journal = await openPlugin({ ...options, ...fast }).catch((thrown) => thrown);
      if (refused) expect(journal.message).to.include(`nats-server ${version}; 2.12.2 or newer is needed`);
      else await journal.close();
      server.close();
    });
  }

  it("a space that was made with other shards, or by a newer Venturi, is refused", async () => {
    const options = { servers: one.servers, replicas: 1, monitors: one.monitors, space: "shards" };
    await (await openPlugin({ ...options, shards: 2 })).close();
    expect((await failureOf({ ...options, shards: 3 })).message).to.include("has 2 shards, not 3");
    const jetstream = await jetstreamOf(one);
    await jetstream.update("V_shards_I", { metadata: { "venturi.format": "2", "venturi.shards": "2" } });
    expect((await failureOf({ ...options, shards: 2 })).message).to.include("newer Venturi (format 2)");
    await jetstream.close();
  });

  it("a stream that would drop messages by itself, or has fewer replicas, is refused; other settings are its owner's", async () => {
    const options = { servers: one.servers, replicas: 1, monitors: one.monitors, space: "limits" };
    await (await openPlugin(options)).close();
    const jetstream = await jetstreamOf(one);
    await jetstream.update("V_limits_0", { max_bytes: 10_000_000_000, description: "ours" });
    await (await openPlugin(options)).close();
    await jetstream.update("V_limits_0", { max_age: 3_600_000_000_000 });
    expect((await failureOf(options)).message).to.include("has max_age");
    await jetstream.update("V_limits_0", { max_age: 0 });
    await jetstream.close();
    expect((await failureOf({ ...options, replicas: 3 })).message).to.include("V_limits_");
  });

  it("servers that are down now are waited for, and used when they come", async () => {
    const late = await NatsCluster.start();
    await late.kill(0);
    const journal = await openPlugin({ servers: late.servers, replicas: 1, monitors: late.monitors, timeout: 1_000 });
    expect(await journal.ping().catch((thrown) => thrown.message)).to.include("cannot be reached");
    late.up(0);
    await late.ready();
    while (
      !(await journal.ping().then(
        () => true,
        () => false,
      ))
    )
      await new Promise((next) => setTimeout(next, 50));
    await journal.close();
    await late.stop();
  });
});

const systemAccount = `accounts {
  APP { jetstream: enabled, users: [{ user: app, password: app }] }
  SYS { users: [{ user: sys, password: sys }] }
}
system_account: SYS`;

/** Says which version it is, and nothing else. */
async function serverOfVersion(version: string): Promise<{ port: number; close(): void }> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    const info = { server_id: "old", server_name: "old", version, proto: 1, headers: true, max_payload: 1_048_576 };
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on("data", (bytes) => {
      if (bytes.includes("PING")) socket.write("PONG\r\n");
    });
  }).listen(port, "127.0.0.1");
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port, close };
}
