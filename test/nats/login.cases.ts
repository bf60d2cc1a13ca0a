import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { expect } from "chai";
import { NatsCluster } from "../plugins/nats/cluster.ts";
import { failureOf, openPlugin } from "../plugins/nats/plugin.ts";

describe("nats: logging in", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-nats-login-"));
  const clusters: NatsCluster[] = [];
  after(async () => {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    rmSync(folder, { recursive: true, force: true });
  });
  const start = async (more: string) => {
    const cluster = await NatsCluster.start({ more });
    clusters.push(cluster);
    return { servers: cluster.servers, monitors: cluster.monitors, replicas: 1 };
  };
  const save = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const refused = "it refuses the credentials";

  it("with a user and a password, whose mistakes are reported at the start", async () => {
    const options = await start("authorization { user: venturi, password: secret }");
    await (await openPlugin({ ...options, user: "venturi", password: "secret" })).close();
    expect((await failureOf({ ...options, user: "venturi", password: "wrong" })).message).to.include(refused);
    expect((await failureOf(options)).message).to.include(refused);
  });

  it("with a token", async () => {
    const options = await start("authorization { token: letmein }");
    await (await openPlugin({ ...options, token: "letmein" })).close();
    expect((await failureOf({ ...options, token: "no" })).message).to.include(refused);
  });

  it("with an nkey, whose seed never leaves the process", async () => {
    const [right, wrong] = [nkeys.createUser(), nkeys.createUser()];
    const options = await start(`authorization { users: [{ nkey: ${right.getPublicKey()} }] }`);
    const seed = (pair: typeof right) => new TextDecoder().decode(pair.getSeed());
    await (await openPlugin({ ...options, nkey: save("right.nk", `${seed(right)}\n`) })).close();
    expect((await failureOf({ ...options, nkey: save("wrong.nk", seed(wrong)) })).message).to.include(refused);
  });

  it("with a credentials file: a user's JWT, signed by its account, and its seed", async () => {
    const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
    const [id, system] = [account.getPublicKey(), nkeys.createAccount().getPublicKey()];
    const limits = { subs: -1, data: -1, payload: -1, conn: -1, leaf: -1, imports: -1, exports: -1 };
    const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1, wildcards: true };
    const operatorJwt = sign(operator, operator.getPublicKey(), { type: "operator" });
    const accountJwt = sign(operator, id, { type: "account", limits: { ...limits, ...storage } });
    const userJwt = sign(account, user.getPublicKey(), { type: "user", subs: -1, data: -1, payload: -1 });
    const systemJwt = sign(operator, system, { type: "account", limits });
    const more = `operator: "${save("operator.jwt", operatorJwt)}"\nsystem_account: ${system}\nresolver: MEMORY
      resolver_preload: { ${id}: "${accountJwt}", ${system}: "${systemJwt}" }`;
    const options = await start(more);
    await (await openPlugin({ ...options, creds: save("user.creds", credsOf(userJwt, user)) })).close();
    const stranger = sign(nkeys.createAccount(), user.getPublicKey(), {
      type: "user",
      subs: -1,
      data: -1,
      payload: -1,
    });
    const error = await failureOf({ ...options, creds: save("stranger.creds", credsOf(stranger, user)) });
    expect(error.message).to.include(refused);
  });

  it("two ways at once are a mistake of the configuration", async () => {
    const error = await failureOf({ servers: ["nats://127.0.0.1:1"], user: "a", token: "b" });
    expect(error).to.include({ code: "config_invalid" });
    expect(error.message).to.include("journal.user and journal.token");
  });
});

type Pair = ReturnType<typeof nkeys.createUser>;

/** A JWT as `nsc` makes it. */
function sign(issuer: Pair, subject: string, nats: Readonly<Record<string, unknown>>): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    jti: "test",
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    name: "test",
    sub: subject,
  };
  const text = `${encode({ typ: "JWT", alg: "ed25519-nkey" })}.${encode({ ...claims, nats: { ...nats, version: 2 } })}`;
  return `${text}.${Buffer.from(issuer.sign(new TextEncoder().encode(text))).toString("base64url")}`;
}

const credsOf = (jwt: string, user: Pair): string => `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${new TextDecoder().decode(user.getSeed())}
------END USER NKEY SEED------
`;
