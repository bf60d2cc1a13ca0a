import { once } from "node:events";
import http from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { ChannelHost } from "../../../src/core/ports/channel.ts";
import { Pipe } from "../../../src/host/http/pipe.ts";
import { ignoreOtherUpgrades } from "../../../src/host/http/upgrades.ts";
import { keyOf, routes, serve, type TestService } from "../../service.ts";

const auth = { keys: [{ ...keyOf("ops", "o"), tenant: "acme", may: ["inspect" as const, "metrics" as const] }] };
const headers = { authorization: "Bearer o" };
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("it opened"),
    (thrown: unknown) => thrown as Record<string, unknown>,
  );

describe("what a server gives its channels, and what it says of itself", () => {
  let service: TestService | undefined;
  afterEach(async () => {
    await service?.close(0);
    service = undefined;
  });

  it("the caller's scopes, a run's trace, and nothing to inspect where there is nothing", async () => {
    let host: ChannelHost | undefined;
    const own = routes((given) => {
      host = given;
      given.server.get("/may", async (request) => given.scopes(request));
    });
    service = await serve({ scripts: {}, channels: [own], settings: { auth }, limits: { body: 7_000 } });
    expect(await (await fetch(`${service.url}/may`, { headers })).json()).to.deep.equal(["inspect", "metrics"]);
    expect(await host?.trace("run_1")).to.deep.equal({ resourceSpans: [], run: "run_1" });
    expect(host?.limits).to.include({ body: 7_000 });
    for (const ask of Object.values(host?.inspect ?? {}))
      expect(ask).to.throw().that.includes({ op: "service.inspect", code: "not_found" });
    expect(Object.keys(host?.inspect ?? {})).to.have.length.greaterThan(5);
  });

  it("a channel that cannot be mounted is named, with the reason", async () => {
    const broken = routes(() => {
      throw new Error("no port for it");
    });
    const error = await failureOf(serve({ scripts: {}, channels: [broken] }));
    expect(error).to.include({ op: "channel.mount", code: "plugin_failed" });
    expect(error.message).to.include('"routes"').and.include("no port for it");
    expect(error.cause).to.be.instanceOf(Error);
  });

  it("an address that is taken is an error, and nothing is left open", async () => {
    service = await serve({ scripts: {}, channels: [] });
    const { port } = new URL(service.url);
    let closed = 0;
    const own = routes(({ server }) => {
      server.addHook("onClose", async () => void closed++);
    });
    const settings = { listen: `127.0.0.1:${port}` };
    const error = await failureOf(serve({ scripts: {}, channels: [own], settings }));
    expect(error).to.include({ op: "server.listen", code: "unavailable" });
    expect(closed).to.equal(1);
  });

  it("requests are measured where somebody counts them, of unknown methods together", async () => {
    const took: Record<string, unknown>[] = [];
    const measure = {
      shift: () => {},
      took: (name: string, _: number, attributes?: object) => void took.push({ name, ...attributes }),
    };
    service = await serve({ scripts: {}, channels: [], parts: { measure } });
    await (await fetch(`${service.url}/livez`)).text();
    const odd = http.request(`${service.url}/livez`, { method: "PROPFIND" }).end();
    const [answer] = (await once(odd, "response")) as [http.IncomingMessage];
    await once(answer.resume(), "end");
    while (took.length < 2) await sleep(2);
    const upgraded = connect(Number(new URL(service.url).port), "127.0.0.1");
    upgraded.write("GET /none HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    await once(upgraded, "data");
    upgraded.destroy();
    await (await fetch(`${service.url}/livez`)).text();
    while (took.length < 3) await sleep(2);
    expect(took.pop(), "an upgrade is not counted").to.include({ "http.route": "/livez" });
    expect(took.map((each) => [each.name, each["http.request.method"]])).to.deep.equal([
      ["http.server.request.duration", "GET"],
      ["http.server.request.duration", "_OTHER"],
    ]);
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    socket.write("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let text = "";
    for await (const data of socket) text += String(data);
    expect(text, "without Accept").to.include("text/plain; version=0.0.4").and.include("# prometheus");
  });

  it("the audit of the caller's tenant, by action and run, in pages", async () => {
    service = await serve({ scripts: {}, channels: [], settings: { auth } });
    for (const [action, run, tenant] of [
      ["run.cancel", "run_1", "acme"],
      ["approval.given", "run_1", "acme"],
      ["run.cancel", "run_2", "acme"],
      ["run.cancel", "run_1", "other"],
    ] as const)
      await service.audit.audit({ action, run, tenant, by: "ops" });
    const read = async (query: string) => {
      const answer = await fetch(`${service?.url}/v1/audit${query}`, { headers });
      const page = (await answer.json()) as { records: { action: string; run: string }[]; cursor?: string };
      return { ...page, status: answer.status, told: page.records?.map(({ action, run }) => `${action} ${run}`) };
    };
    const all = ["run.cancel run_2", "approval.given run_1", "run.cancel run_1"];
    expect((await read("")).told).to.deep.equal(all);
    expect((await read("?action=run.cancel")).told).to.deep.equal([all[0], all[2]]);
    expect((await read("?run=run_1")).told).to.deep.equal([all[1], all[2]]);
    expect((await read("?run=run_1&action=run.cancel")).told).to.deep.equal([all[2]]);
    const first = await read("?limit=2");
    expect(first.told).to.deep.equal(all.slice(0, 2));
    expect((await read(`?limit=2&cursor=${first.cursor}`)).told).to.deep.equal(all.slice(2));
    for (const wrong of ["?limit=0", "?limit=201", "?cursor=x", "?cursor=12345678901234567", "?actor=x"])
      expect((await read(wrong)).status, wrong).to.equal(400);
  });
});

describe("an HTTP server of an older Node", () => {
  /** As before 22.21 and 24.9: it does not have the property. */
  const older = (server: http.Server): http.Server => new Proxy(server, { has: () => false });

  it("answers a request that offers another upgrade, with its body, and hands WebSockets on", async () => {
    const server = http.createServer(async (request, response) => {
      let body = "";
      for await (const piece of request) body += String(piece);
      response.end(`${request.method} ${body}`);
    });
    server.on("upgrade", (_, socket) => socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\n"));
    ignoreOtherUpgrades(older(server));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const ask = async (line: string, upgrade: string, body = "") => {
      const socket = connect(port, "127.0.0.1");
      socket.write(
        `${line} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      const [data] = (await once(socket, "data")) as [Buffer];
      socket.destroy();
      return data.toString();
    };
    expect(await ask("POST /", "h2c", "hello"))
      .to.match(/^HTTP\/1\.1 200 /)
      .and.to.include("POST hello");
    expect(await ask("POST /", "websocket", "hello"))
      .to.match(/^HTTP\/1\.1 200 /)
      .and.to.include("POST hello");
    expect(await ask("GET /", "WebSocket")).to.match(/^HTTP\/1\.1 101 /);
    server.close();
    server.closeAllConnections();
  });

  it("leaves connections without a parser alone, and a newer Node's server as it is", () => {
    const server = http.createServer();
    const before = server.listenerCount("connection");
    ignoreOtherUpgrades(server);
    expect(server.listenerCount("connection")).to.equal(before);
    const bare = new http.Server();
    bare.removeAllListeners("connection");
    ignoreOtherUpgrades(older(bare));
    for (const parser of [undefined, null, {}]) expect(bare.emit("connection", { parser })).to.equal(true);
  });
});

describe("a connection within the process", () => {
  it("takes what a socket takes", () => {
    const [one] = Pipe.pair();
    expect([one.setTimeout(), one.setNoDelay(), one.setKeepAlive()]).to.deep.equal([one, one, one]);
    one.destroy();
  });
});
