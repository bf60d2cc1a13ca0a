import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { freePort } from "../chaos/port.ts";
import { NatsCluster } from "../plugins/nats/cluster.ts";
import { failureOf, fixtures, openPlugin } from "../plugins/nats/plugin.ts";

const file = (name: string) => JSON.stringify(join(fixtures, name));
const tls = `cert_file: ${file("server.pem")}, key_file: ${file("server.key")}, ca_file: ${file("ca.pem")}`;

describe("nats over TLS", () => {
  let cluster: NatsCluster;
  before(async () => {
    cluster = await NatsCluster.start({ more: `tls { ${tls} }` });
  });
  after(() => cluster?.stop());
  const options = () => ({ servers: cluster.servers, monitors: cluster.monitors, replicas: 1 });

  it("the connection is encrypted, and the certificate and its name are checked", async () => {
    const journal = await openPlugin({ ...options(), tls: { ca: "ca.pem" } });
    await journal.heartbeat("w");
    const told = (await (await fetch(`${cluster.monitors[0]}/connz`)).json()) as {
      connections: { tls_version?: string }[];
    };
    expect(told.connections).to.have.length(1);
    expect(told.connections[0]?.tls_version).to.be.a("string");
    await journal.close();
  });

  it("a certificate that the given authority has not signed is refused at the start", async () => {
    const error = await failureOf({ ...options(), tls: { ca: "other-ca.pem" } });
    expect(error).to.include({ op: "journal.ping", code: "journal_failed" });
    expect(error.message).to.include("its certificate is not trusted").and.include("check journal.tls.ca");
  });

  it("without an authority those of the system count, and none of them has signed it", async () => {
    for (const more of [{ tls: true }, {}])
      expect((await failureOf({ ...options(), ...more })).message).to.include("its certificate is not trusted");
  });

  it("a certificate for another name is refused, and the name it must carry can be given", async () => {
    const servers = cluster.servers.map((server) => server.replace("127.0.0.1", "localhost"));
    const error = await failureOf({ ...options(), servers, tls: { ca: "ca.pem" } });
    expect(error.message).to.include("its certificate is for another name");
    const wrong = await failureOf({ ...options(), tls: { ca: "ca.pem", servername: "other.test" } });
    expect(wrong.message).to.include("its certificate is for another name");
    await (await openPlugin({ ...options(), servers, tls: { ca: "ca.pem", servername: "journal.test" } })).close();
  });

  it("a server without TLS gets nothing: not the user, not the password", async () => {
    const heard: Buffer[] = [];
    const port = await freePort();
    const server = createServer((socket: Socket) => {
      socket.on("error", () => {});
      socket.on("data", (bytes) => heard.push(bytes));
      const info = { server_id: "plain", version: "2.15.1", proto: 1, headers: true, max_payload: 1_048_576 };
      socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    }).listen(port, "127.0.0.1");
    const login = { user: "venturi", password: "topsecret" };
    for (const encrypted of [true, { ca: "ca.pem" }]) {
      const error = await failureOf({ ...options(), ...login, servers: [`nats://127.0.0.1:${port}`], tls: encrypted });
      expect(error.message).to.include("it does not speak TLS");
    }
    server.close();
    expect(Buffer.concat(heard).toString()).to.equal("");
  });

  it("a client shows its certificate when it has one", async () => {
    const strict = await NatsCluster.start({ more: `tls { ${tls}, verify: true }` });
    try {
      const own = { servers: strict.servers, monitors: strict.monitors, replicas: 1 };
      const certified = { ca: "ca.pem", cert: "client.pem", key: "client.key" };
      await (await openPlugin({ ...own, tls: certified })).close();
      // TLS 1.3 refuses it only after the handshake, so that it looks like a connection that was lost.
      const journal = await openPlugin({ ...own, tls: { ca: "ca.pem" } });
      const error = await journal.ping().catch((thrown) => thrown);
      expect(error).to.include({ op: "journal.ping", code: "journal_failed" });
      expect(error.message).to.include("check journal.tls.cert");
      await journal.close();
    } finally {
      await strict.stop();
    }
  });

  it("a server that wants the handshake before anything else gets it", async () => {
    const first = await NatsCluster.start({ more: `tls { ${tls}, handshake_first: true }` });
    const own = { servers: first.servers, monitors: first.monitors, replicas: 1 };
    await (await openPlugin({ ...own, tls: { ca: "ca.pem", handshakeFirst: true } })).close();
    await first.stop();
  });

  it("a file that cannot be read is a mistake of the configuration", async () => {
    for (const more of [{ tls: { ca: "nothing.pem" } }, { creds: "nothing.creds" }, { nkey: "nothing.nk" }]) {
      const error = await failureOf({ ...options(), ...more });
      expect(error).to.include({ code: "config_invalid" });
      expect(error.message).to.match(/journal\.(tls\.ca|creds|nkey) cannot be read/);
    }
  });
});
