import { once } from "node:events";
import { createServer, type Server } from "node:http";
import net, { type AddressInfo } from "node:net";
import { expect } from "chai";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import channelHttp from "../../../plugins/channel-http/index.ts";
import channelWebSocket from "../../../plugins/channel-websocket/index.ts";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import { type Scope, scopes } from "../../../src/core/ports/scopes.ts";
import { demand } from "../../../src/host/access/auth.ts";
import { tokenCheck } from "../../../src/host/access/jwt.ts";
import { JwtSettings } from "../../../src/host/config/server.ts";
import { endless, hello, keyOf, serve, type TestService } from "../../service.ts";

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => expect.fail(`it was accepted: ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );

describe("what a key may do", () => {
  let service: TestService;
  let run = "";
  before(async () => {
    const keys = scopes.map((scope) => ({ ...keyOf(scope, `${scope}-key`), tenant: "t", may: [scope] }));
    service = await serve({
      scripts: { hello, endless },
      channels: [{ plugin: channelHttp }, { plugin: channelWebSocket }],
      settings: { auth: { keys: [...keys, { ...keyOf("plain", "plain-key"), tenant: "t" }] } },
    });
    run = (await service.runs.start({ agent: "endless", input: { text: "x" } }, { tenant: "t" })).run;
  });
  after(async () => {
    await service.runs.cancel(run);
    await service.close();
  });

  const ask = (key: string, path: string, body?: unknown) =>
    fetch(service.url + path.replace("RUN", run), {
      headers: { authorization: `Bearer ${key}-key`, "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });

  const surfaces: [Scope, string, unknown?][] = [
    ["start", "/v1/runs", { agent: "hello", input: "x" }],
    ["see", "/v1/runs/RUN"],
    ["see", "/v1/runs"],
    ["see", "/v1/sessions/s"],
    ["steer", "/v1/runs/RUN/messages", { text: "x" }],
    ["inspect", "/v1/audit"],
    ["approve", "/v1/runs/RUN/approvals/c", { approved: true }],
    ["metrics", "/metrics"],
  ];
  for (const [scope, path, body] of surfaces) {
    it(`${path} takes \`${scope}\`, and nothing else will do`, async () => {
      for (const other of scopes) {
        const { status } = await ask(other, path, body);
        if (other === scope) expect(status, other).not.to.equal(403);
        else expect(status, other).to.equal(403);
      }
      const usual: readonly Scope[] = ["start", "see", "steer"];
      const { status } = await ask("plain", path, body);
      expect(status === 403, "by default").to.equal(!usual.includes(scope));
    });
  }

  it("to cancel it must steer, and to trace inspect and see", async () => {
    for (const other of scopes) {
      if (other !== "steer") expect((await ask(other, "/v1/runs/RUN/cancel", {})).status).to.equal(403);
      expect((await ask(other, "/v1/runs/RUN/trace")).status).to.equal(403);
    }
  });

  it("one that may only start reads what it started, as a stream too", async () => {
    const answer = await fetch(`${service.url}/v1/runs`, {
      method: "POST",
      headers: { authorization: "Bearer start-key", "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ agent: "hello", input: "x" }),
    });
    expect(await answer.text()).to.include("run.finished");
  });
});

describe("strangers", () => {
  let service: TestService;
  beforeEach(async () => {
    service = await serve({
      scripts: { hello },
      channels: [{ plugin: channelHttp }],
      settings: { auth: { keys: [keyOf("ada", "good")] } },
    });
  });
  afterEach(() => service.close());
  const knock = (key: string) => fetch(`${service.url}/v1/agents`, { headers: { authorization: `Bearer ${key}` } });

  it("that guess keys get 429 and are counted in the audit, without locking out valid keys", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 200; n++) {
      const answer = await knock(`bad-${n}`);
      await answer.text();
      statuses.push(answer.status);
    }
    expect(new Set(statuses.slice(0, 20))).to.deep.equal(new Set([401]));
    expect(new Set(statuses.slice(20))).to.deep.equal(new Set([429]));
    expect((await knock("good")).status).to.equal(200);
    await service.close();
    const { records } = await service.audit.audits({ action: "auth.failed" });
    expect(records.map(({ by }) => by)).to.deep.equal(["127.0.0.1", "127.0.0.1"]);
    expect(records[0]?.details).to.deep.equal({ count: 200 });
    expect(JSON.stringify(records)).not.to.include("bad-");
  });

  it("learn from /readyz that the journal is unavailable, but not where it is", async () => {
    const secret = "PostgreSQL at db.internal:5432 or the file /var/lib/venturi/runs.db cannot be reached";
    const away = await serve({
      scripts: { hello },
      channels: [],
      ready: () => Promise.reject(new VenturiError("journal.ping", "journal_failed", secret)),
    });
    const answer = await fetch(`${away.url}/readyz`);
    const body = await answer.text();
    expect(answer.status).to.equal(503);
    expect(body).to.include("journal_failed");
    for (const part of ["db.internal", "5432", "/var/lib", "runs.db"]) expect(body).not.to.include(part);
    await away.close();
  });

  it("with two Host headers are refused", async () => {
    const socket = net.connect(Number(new URL(service.url).port), "127.0.0.1");
    socket.write("GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).to.match(/^HTTP\/1\.1 400 /);
  });
});

describe("tokens of an issuer", () => {
  const issuer = "https://issuer.test";
  const audience = "venturi";
  let server: Server;
  let published: object[] = [];
  let asked = 0;
  let down = false;
  let signing: Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];

  const publish = async (kid: string) => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    published = [{ ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" }];
    signing = privateKey;
  };
  const settings = (rest: object = {}) =>
    JwtSettings.parse({
      issuer,
      audience,
      jwks: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
      tenant: "org",
      may: "scope",
      ...rest,
    });
  const token = (kid: string, claims: Record<string, unknown> = {}) => {
    const { iss = issuer, aud = audience, exp = "5m", ...rest } = claims;
    return new SignJWT({ org: "acme", scope: "start see openid", sub: "u1", ...rest })
      .setProtectedHeader({ alg: "ES256", kid })
      .setIssuer(String(iss))
      .setAudience(String(aud))
      .setExpirationTime(exp as string)
      .sign(signing);
  };

  beforeEach(async () => {
    asked = 0;
    down = false;
    server = createServer((_request, response) => {
      asked += 1;
      response.statusCode = down ? 500 : 200;
      response.end(JSON.stringify({ keys: published }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    await publish("one");
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it("identify the caller, its tenant and its permissions", async () => {
    const check = await tokenCheck(settings());
    const holder = await check(await token("one"));
    expect(holder).to.include({ id: "jwt:u1", tenant: "acme" });
    expect([...holder.may]).to.deep.equal(["start", "see"]);
    const list = await check(await token("one", { scope: ["venturi:approve", "nonsense"] }));
    expect([...list.may]).to.deep.equal(["approve"]);
    const own = await (await tokenCheck(settings({ tenant: undefined, may: undefined })))(await token("one"));
    expect(own.tenant).to.equal("jwt:u1");
    expect([...own.may]).to.deep.equal(["start", "see", "steer"]);
    expect(asked).to.equal(2);
  });

  it("are refused when expired, from another issuer, for another audience, without a tenant, unsigned or signed with another algorithm", async () => {
    const check = await tokenCheck(settings(), 0);
    const good = await token("one");
    const [head = "", body = "", signature = ""] = good.split(".");
    const none = new UnsecuredJWT({ org: "acme", scope: "start" })
      .setSubject("u1")
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime("5m")
      .encode();
    const secret = new TextEncoder().encode(JSON.stringify(published[0]));
    const symmetric = await new SignJWT({ org: "acme" })
      .setProtectedHeader({ alg: "HS256", kid: "one" })
      .setSubject("u1")
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime("5m")
      .sign(secret);
    const forged = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(body, "base64url").toString()), org: "evil" }),
    );
    const { privateKey } = await generateKeyPair("ES256");
    const stranger = await new SignJWT({ org: "acme" })
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .setSubject("u1")
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime("5m")
      .sign(privateKey);
    const endless = await new SignJWT({ org: "acme" })
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .setSubject("u1")
      .setIssuer(issuer)
      .setAudience(audience)
      .sign(signing);
    for (const [what, bad] of [
      ["over", await token("one", { exp: "-1m" })],
      ["other issuer", await token("one", { iss: "https://evil.test" })],
      ["other audience", await token("one", { aud: "billing" })],
      ["no tenant", await token("one", { org: undefined })],
      ["tenant of another type", await token("one", { org: ["acme"] })],
      ["a subject that is no text", await token("one", { sub: ["u1"] })],
      ["a subject without a name", await token("one", { sub: "" })],
      ["a subject that is too long", await token("one", { sub: "u".repeat(256) })],
      ["alg none", none],
      ["alg none, with a signature", `${none}${signature}`],
      ["symmetric", symmetric],
      ["forged claims", `${head}.${forged.toString("base64url")}.${signature}`],
      ["another key under the same kid", stranger],
      ["no kid that is known", await token("two")],
      ["without an end", endless],
    ] as const) {
      expect(await failureOf(check(bad)), what).to.have.property("code", "unauthorized");
    }
    expect(await check(good)).to.have.property("tenant", "acme");
  });

  it("that expired open nothing more on a socket that is still connected", async () => {
    const holder = await (await tokenCheck(settings()))(await token("one"));
    demand(holder, "start");
    const over = { ...holder, expiresAt: Date.now() - 1 };
    expect(() => demand(over, "start")).to.throw("expired");
  });

  it("go on after the issuer has changed its keys: new ones are taken, old ones no longer", async () => {
    const check = await tokenCheck(settings(), 0);
    const before = await token("one");
    await check(before);
    await publish("two");
    expect(await check(await token("two"))).to.have.property("tenant", "acme");
    expect(await failureOf(check(before))).to.have.property("code", "unauthorized");
  });

  it("cannot make the service query the issuer for each one", async () => {
    const check = await tokenCheck(settings());
    await check(await token("one"));
    for (let n = 0; n < 50; n++) await failureOf(check(await token(`made-up-${n}`)));
    expect(asked).to.be.lessThan(3);
  });

  it("are not blamed on the caller when the issuer is unavailable", async () => {
    down = true;
    const check = await tokenCheck(settings());
    expect(await failureOf(check(await token("one")))).to.have.property("code", "unavailable");
  });

  it("are let in by the server beside keys, kept to their tenant, and a run of theirs ends with their scopes", async () => {
    const service = await serve({
      scripts: { hello },
      channels: [{ plugin: channelHttp }],
      settings: { auth: { keys: [keyOf("ada", "good")], jwt: settings() } },
    });
    const start = async (bearer: string) => {
      const answer = await fetch(`${service.url}/v1/runs`, {
        method: "POST",
        headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
        body: JSON.stringify({ agent: "hello", input: "x" }),
      });
      return { status: answer.status, body: (await answer.json()) as { run: string } };
    };
    const { status, body } = await start(await token("one"));
    expect(status).to.equal(200);
    expect(await service.runs.get(body.run)).to.have.property("tenant", "acme");
    expect((await start("good")).status).to.equal(200);
    expect((await start(await token("one", { scope: "see" }))).status).to.equal(403);
    expect((await start(await token("one", { aud: "x" }))).status).to.equal(401);
    await service.close();
  });
});
