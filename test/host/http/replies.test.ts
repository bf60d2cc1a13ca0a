import { once } from "node:events";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import WebSocket from "ws";
import channelHttp from "../../../plugins/channel-http/index.ts";
import channelWebSocket from "../../../plugins/channel-websocket/index.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { hello, keyOf, routes, serve, type TestService } from "../../service.ts";

const errorOf = async (response: Response) => ((await response.json()) as { error: Record<string, unknown> }).error;
const logged: unknown[] = [];
const log = { ...silentLog, error: (message: string, fields?: object) => void logged.push([message, fields]) };

describe("every reply", () => {
  let service: TestService;
  before(async () => {
    const own = routes(({ server, account }) => {
      server.get("/broken", () => Promise.reject(new Error("a bug")));
      server.get("/header", async (_, reply) => {
        reply.headers({ "x-bad": "a\r\nset-cookie: b=1", "x-wide": "€", "x-good": "a\tb ~" });
        return {};
      });
      server.get("/sized/:size", async ({ params }, reply) => {
        const { size } = params as { size: string };
        return reply.type("application/octet-stream").send(Buffer.alloc(Number(size), 7));
      });
      server.get("/stream", async (request, reply) => {
        const held = account(request).hold(1, "reply");
        return reply.send(Readable.from([Buffer.from("a"), Buffer.from("b")]).once("close", () => held.release()));
      });
      server.get("/object", async () => ({ text: "é".repeat(100_000) }));
    });
    service = await serve({
      scripts: { hello },
      channels: [own, { plugin: channelHttp }, { plugin: channelWebSocket }],
      limits: { memory: 8 * 1024 ** 2 },
      parts: { log, version: "1.2.3" },
    });
  });
  after(() => service.close(0));
  const ask = (path: string, headers: Record<string, string> = {}) => fetch(service.url + path, { headers });

  it("forbids a browser to guess, frame, embed, run or keep it", async () => {
    for (const path of ["/livez", "/nothing", "/v1/runs/%zz"]) {
      const { headers } = await ask(path);
      expect(Object.fromEntries(headers)).to.include({
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
      });
    }
  });

  it("has the request's id if it is one, otherwise a new one", async () => {
    const idOf = async (id?: string) =>
      (await ask("/livez", id === undefined ? {} : { "x-request-id": id })).headers.get("x-request-id");
    for (const id of ["a", "order-7.b:c_D", "x".repeat(128)]) expect(await idOf(id)).to.equal(id);
    for (const id of ["", "a b", "a/b", "x".repeat(129), undefined])
      expect(await idOf(id)).to.match(/^req_[0-9a-f]{24}$/);
    expect(await idOf()).not.to.equal(await idOf());
  });

  it("has the request's trace if it is one, otherwise a new one that is not sampled", async () => {
    const given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    expect((await ask("/livez", { traceparent: given })).headers.get("traceparent")).to.equal(given);
    const fresh = /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/;
    expect((await ask("/livez", { traceparent: "00-0-0-00" })).headers.get("traceparent")).to.match(fresh);
  });

  it("loses a header that cannot be sent, not its body", async () => {
    const response = await ask("/header");
    expect([response.status, await response.json()]).to.deep.equal([200, {}]);
    expect([response.headers.get("x-bad"), response.headers.get("x-wide")]).to.deep.equal([null, null]);
    expect(response.headers.get("set-cookie")).to.equal(null);
    expect(response.headers.get("x-good")).to.equal("a\tb ~");
  });

  it("to an unknown path names the method and the path, not the query", async () => {
    const response = await fetch(`${service.url}/nothing?token=secret`, { method: "PATCH" });
    const error = await errorOf(response);
    expect([response.status, error.op, error.code]).to.deep.equal([404, "server.route", "not_found"]);
    expect(error.err).to.match(/^there is no PATCH \/nothing;/);
    const long = await errorOf(await ask(`/${"a".repeat(500)}`));
    expect(String(long.err)).to.include("a".repeat(199)).and.not.include("a".repeat(200));
  });

  it("to a path that cannot be read, or with a part that is too long, is an error in the same shape", async () => {
    const broken = await ask("/v1/runs/%zz");
    expect([broken.status, (await errorOf(broken)).op]).to.deep.equal([400, "server.route"]);
    const long = await ask(`/v1/runs/${"r".repeat(257)}`);
    expect([long.status, await errorOf(long)][1]).to.include({ op: "server.route", code: "too_large" });
    expect((await ask(`/v1/runs/${"r".repeat(256)}`)).status).to.equal(404);
  });

  it("to a fault of ours is logged with its route, and says nothing of it; others are not logged", async () => {
    logged.length = 0;
    await (await ask("/nothing")).text();
    expect(logged).to.deep.equal([]);
    const response = await ask("/broken?x=1");
    const body = await response.text();
    expect(response.status).to.equal(500);
    expect(JSON.parse(body)).to.have.nested.property("error.code", "internal");
    expect(body).not.to.include("at ");
    const fields = { method: "GET", route: "/broken", error: "Error: a bug" };
    expect(logged).to.deep.equal([["a request failed", fields]]);
  });

  it("has its length and every byte, whatever its size", async () => {
    const large = 64 * 1024;
    for (const size of [0, 1, large - 1, large, large + 1, 3 * large, 200_000]) {
      const response = await ask(`/sized/${size}`);
      expect(Number(response.headers.get("content-length")), String(size)).to.equal(size);
      expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.alloc(size, 7))).to.equal(true);
    }
    const object = await ask("/object");
    expect(Number(object.headers.get("content-length"))).to.equal(200_000 + '{"text":""}'.length);
    expect(((await object.json()) as { text: string }).text).to.equal("é".repeat(100_000));
    expect(await (await ask("/stream")).text()).to.equal("ab");
    const head = await fetch(`${service.url}/sized/200000`, { method: "HEAD" });
    expect([head.status, (await head.arrayBuffer()).byteLength]).to.deep.equal([200, 0]);
    while (service.memory.held > 0) await sleep(2);
  });

  it("of a few bytes needs no room, a large one or a stream does, and what it took is given back", async () => {
    const held = service.memory.of("other").hold(8 * 1024 ** 2, "run");
    const own = service.memory.of("default").hold(8 * 1024 ** 2, "run");
    expect((await ask("/sized/1000")).status).to.equal(200);
    for (const path of ["/sized/70000", "/stream", "/object"]) {
      const refused = await ask(path);
      expect([refused.status, (await errorOf(refused)).op], path).to.deep.equal([503, "memory.charge"]);
    }
    for (const charge of [held, own]) charge.release();
    while (service.memory.held > 0) await sleep(2);
    await (await ask("/sized/70000")).arrayBuffer();
    while (service.memory.held > 0) await sleep(2);
    expect([...service.memory.tenants]).to.deep.equal([]);
  });

  for (const [what, bytes, status, code] of [
    [
      "headers that are too large",
      `GET / HTTP/1.1\r\nX-A: ${"a".repeat(32_000)}`,
      "431 Request Header Fields Too Large",
      "too_large",
    ],
    ["no HTTP", "\x16\x03\x01\x02\x00\r\n\r\n", "400 Bad Request", "invalid_input"],
  ] as const) {
    it(`to ${what} is written on the socket, which is closed`, async () => {
      const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
      socket.on("error", () => {}).write(`${bytes}\r\n\r\n`);
      let text = "";
      for await (const data of socket) text += String(data);
      const [head = "", body = ""] = text.split("\r\n\r\n");
      expect(head.split("\r\n")).to.deep.equal([
        `HTTP/1.1 ${status}`,
        "Content-Type: application/json",
        `Content-Length: ${Buffer.byteLength(body)}`,
        "Connection: close",
      ]);
      expect(JSON.parse(body).error).to.include({ op: "request.read", code });
    });
  }

  it("allows other sites nothing unless the config lists them", async () => {
    const asked = { origin: new URL(service.url).origin, "access-control-request-method": "POST" };
    const preflight = await fetch(`${service.url}/v1/runs`, { method: "OPTIONS", headers: asked });
    expect(preflight.status).to.equal(404);
    const names = [...preflight.headers.keys()].filter((name) => /^access-control|^vary/.test(name));
    expect(names).to.deep.equal([]);
    const shared = await serve({ scripts: {}, channels: [], settings: { cors: { origins: ["*"] } } });
    const any = await fetch(`${shared.url}/livez`, { headers: { origin: "https://any.example" } });
    expect(any.headers.get("access-control-allow-origin")).to.equal("https://any.example");
    await any.text();
    await shared.close(0);
  });

  it("that opens a WebSocket names our protocol if it was offered, and pings are left to the channel", async () => {
    const open = async (protocols: string[]) => {
      const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`, protocols);
      await once(socket, "open");
      const { protocol } = socket;
      socket.terminate();
      return protocol;
    };
    expect(await open(["other", "venturi"])).to.equal("venturi");
    expect(await open([])).to.equal("");
    const refused = new WebSocket(`${service.url.replace("http", "ws")}/ws`, ["other"]);
    const [error] = (await once(refused, "error")) as [Error];
    expect(error.message, "the client sees that none of its protocols was taken").to.include("no subprotocol");
  });

  it("to a WebSocket's message that is larger than a body may be is its end", async () => {
    const small = await serve({
      scripts: { hello },
      channels: [{ plugin: channelWebSocket }],
      limits: { body: 2_000 },
    });
    const socket = new WebSocket(`${small.url.replace("http", "ws")}/ws`);
    await once(socket, "open");
    socket.send("x".repeat(2_001));
    const [code] = (await once(socket, "close")) as [number];
    expect(code).to.equal(1009);
    await small.close(0);
  });

  it("of /openapi.json names the service, its version, and its keys only where there are some", async () => {
    const document = async (of: TestService, headers: Record<string, string> = {}) =>
      (await (await fetch(`${of.url}/openapi.json`, { headers })).json()) as Record<string, unknown>;
    const plain = await document(service);
    expect(plain).to.deep.nested.include({ "info.title": "Venturi", "info.version": "1.2.3", openapi: "3.1.0" });
    expect(plain).not.to.have.property("security");
    expect(plain.paths).not.to.have.property("/openapi.json");
    expect(plain).to.have.deep.nested.property("components.securitySchemes.key", { type: "http", scheme: "bearer" });
    const { schemas } = plain.components as { schemas: Record<string, unknown> };
    const names = Object.keys(schemas);
    expect(names, "as clients in every language call them").to.include.members([
      ...["RunEvent", "RunStarted", "TextDelta", "ToolFinished", "FeedItem", "FeedRunStarted", "FeedTick"],
      ...["Part", "TextPart", "ImagePart", "Digest", "ErrorBody", "ForkRequest", "Message", "PendingCall"],
      ...["RunInput", "Spent", "Timing", "Usage"],
    ]);
    const operations = Object.values(plain.paths as object).flatMap((methods) => Object.values(methods as object));
    for (const operation of operations as { summary?: string; tags?: string[] }[]) {
      if (operation.summary === undefined) continue; // a channel's, not the API's
      expect(operation.summary).to.match(/\w/);
      expect(operation.tags?.[0]).to.match(/^[a-z]+$/);
    }
    const locked = await serve({ scripts: {}, channels: [], settings: { auth: { keys: [keyOf("a", "s")] } } });
    expect(await document(locked, { authorization: "Bearer s" })).to.have.deep.property("security", [{ key: [] }]);
    await locked.close(0);
  });
});
