import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import http from "../../../plugins/http/index.ts";
import { RichOutput, type ToolContext, type ToolSource } from "../../../src/core/ports/tool.ts";
import { callTool, testPluginContext, toolContract, toolNamed } from "../../../src/testing.ts";
import { petstore } from "./petstore.ts";
import { startServer } from "./server.ts";

type Server = Awaited<ReturnType<typeof startServer>>;
type Source = ToolSource & { close(): void };
const key = "s3cret-key-0815";
const folder = mkdtempSync(join(tmpdir(), "venturi-http-"));
after(() => rmSync(folder, { recursive: true }));

const open = async (options: Record<string, unknown>) =>
  (await http.create(http.options.parse(options), testPluginContext({ name: "api", folder }))) as Source;
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );
const text = { type: "string" };

const shared = await startServer();
after(() => shared.stop());
const get = (path: string, more = {}) => ({
  description: `Gets ${path} there`,
  url: `http://127.0.0.1:${shared.port}${path}`,
  ...more,
});

toolContract("http", {
  create: () =>
    open({
      allowPrivate: [`127.0.0.1:${shared.port}`],
      operations: {
        item: get("/items/{id}", { parameters: { id: text } }),
        missing: get("/missing"),
        hang: get("/hang"),
      },
    }),
  samples: [{ tool: "api_item", input: { id: "1" } }],
  misfits: [{ tool: "api_item", input: {} }],
  failures: [{ tool: "api_missing", input: {} }],
  endless: { tool: "api_hang", input: {} },
});

describe("http", () => {
  let server: Server;
  let source: Source | undefined;
  let options: Record<string, unknown>;

  beforeEach(async () => {
    server = await startServer();
    options = { allowPrivate: [`127.0.0.1:${server.port}`], headers: { authorization: `Bearer ${key}` } };
  });
  afterEach(async () => {
    source?.close();
    source = undefined;
    await server.stop();
  });

  const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;
  const run = async (
    operation: Record<string, unknown>,
    input: Record<string, unknown> = {},
    { given = {}, context = {} }: { given?: Record<string, unknown>; context?: Partial<ToolContext> } = {},
  ) => {
    source = await open({ ...options, ...given, operations: { op: { description: "An operation", ...operation } } });
    return (await callTool(toolNamed(source, "api_op"), input, context)).output;
  };

  it("fills the path, the query, the headers and the body from the parameters", async () => {
    await run(
      {
        method: "POST",
        url: at("/v1/{city}/forecast"),
        query: { unit: "{unit}", lang: "en" },
        headers: { "x-trace": "t-{city}" },
        body: { days: "{days}", note: "for {city}", fixed: [1, "{city}"] },
        parameters: { city: text, unit: text, days: { type: "integer" } },
      },
      { city: "São Paulo/x", unit: "a&b=c", days: 3 },
      { context: { idempotencyKey: "run:1", traceparent: "00-a-b-01" } },
    );
    const [asked] = server.seen;
    expect(asked?.url).to.equal("/v1/S%C3%A3o%20Paulo%2Fx/forecast?unit=a%26b%3Dc&lang=en");
    expect(JSON.parse(asked?.body ?? "")).to.deep.equal({
      days: 3,
      note: "for São Paulo/x",
      fixed: [1, "São Paulo/x"],
    });
    expect(asked?.headers).to.include({
      authorization: `Bearer ${key}`,
      "idempotency-key": "run:1",
      traceparent: "00-a-b-01",
    });
  });

  it("parameters used nowhere go into the query of a GET and the body of a POST; braces in values stay braces", async () => {
    const parameters = { q: text, tags: { type: "array", items: text }, page: { type: "integer" } };
    await run({ url: at("/search"), parameters, optional: ["page", "tags"] }, { q: "{page}", tags: ["a", "b"] });
    await run({ url: at("/search"), method: "POST", parameters, optional: ["page", "tags"] }, { q: "x", page: 2 });
    expect(server.seen[0]?.url).to.equal("/search?q=%7Bpage%7D&tags=a&tags=b");
    expect(JSON.parse(server.seen[1]?.body ?? "")).to.deep.equal({ q: "x", page: 2 });
  });

  it("GET is pure and sends no idempotency key; others are effectful unless declared", async () => {
    source = await open({
      hosts: ["x.test"],
      operations: {
        get: { description: "Reads it there", url: "https://x.test/" },
        post: { description: "Adds to it", url: "https://x.test/", method: "POST" },
        put: { description: "Puts it there", url: "https://x.test/", method: "PUT", effect: "idempotent" },
      },
    });
    expect(source.list().map((tool) => `${tool.name} ${tool.effect}`)).to.deep.equal([
      "api_get pure",
      "api_post effectful",
      "api_put idempotent",
    ]);
  });

  it("a parameter cannot step to another path", async () => {
    const operation = { url: at("/items/{a}{b}/x"), parameters: { a: text, b: text } };
    for (const [a, b] of [
      ["..", ""],
      [".", "."],
      [".", ""],
    ]) {
      expect((await failureOf(run(operation, { a, b }))).code).to.equal("tool_denied");
    }
    await run(operation, { a: "../../admin?x=", b: "#y" });
    expect(server.seen.map((entry) => entry.url)).to.deep.equal(["/items/..%2F..%2Fadmin%3Fx%3D%23y/x"]);
  });

  it("answers JSON parsed, text as it is, images beside the text, binary data by its size", async () => {
    expect(await run({ url: at("/any") }))
      .to.deep.include({ status: 200 })
      .and.to.have.nested.property("body.path", "/any");
    expect(await run({ url: at("/image") })).to.be.instanceOf(RichOutput);
    expect(await run({ url: at("/binary") })).to.deep.equal({ status: 200, body: "[data, 3 bytes]" });
  });

  it("a status from 400 on is a failure with the server's words", async () => {
    const thrown = await failureOf(run({ url: at("/missing") }));
    expect([thrown.code, thrown.message]).to.deep.equal(["tool_failed", "status 404 (retry after 7): no such thing"]);
  });

  it("credentials that a server echoes are taken out of results and errors", async () => {
    const echoed = await run({ url: at("/echo-secret"), query: { api_key: "query-key-zanzibar" } });
    expect(JSON.stringify(echoed)).not.to.match(/s3cret|zanzibar/);
    const thrown = await failureOf(run({ url: at("/fail-secret") }));
    expect(JSON.stringify([thrown, String(thrown), thrown.cause ?? null])).not.to.contain("s3cret");
    expect(thrown.message).to.contain("bad key");
    const unreachable = { url: "http://127.0.0.1:1/", query: { api_key: "query-key-zanzibar" } };
    const gone = await failureOf(run(unreachable, {}, { given: { allowPrivate: ["127.0.0.1:1"] } }));
    expect(gone.code).to.equal("unavailable");
    expect(JSON.stringify([gone, gone.message, gone.cause ?? null])).not.to.match(/s3cret|zanzibar/);
  });

  it("cuts a large answer, also one that is small until it is unpacked", async () => {
    const given = { maxResponse: "1KiB" };
    for (const path of ["/large", "/bomb"]) {
      const output = (await run({ url: at(path) }, {}, { given })) as { body: string; truncated: string };
      expect(output.body.length, path).to.equal(1_024);
      expect(output.truncated).to.equal("cut after 1024 bytes");
    }
  });

  it("ends a request after its time, whether or not the answer has begun", async () => {
    for (const path of ["/hang", "/drip"]) {
      expect((await failureOf(run({ url: at(path) }, {}, { given: { timeout: "150ms" } }))).code, path).to.equal(
        "tool_timeout",
      );
    }
  });

  it("cancelling closes the connection", async () => {
    const controller = new AbortController();
    const outcome = failureOf(run({ url: at("/drip") }, {}, { context: { signal: controller.signal } }));
    while (server.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error("enough"));
    expect((await outcome).code).to.equal("stream_interrupted");
    while (server.closed() === 0) await new Promise((resolve) => setImmediate(resolve));
  });

  const redirects: readonly (readonly [string, string])[] = [
    ["another host", "https://evil.example/"],
    ["another port", "http://127.0.0.1:1/"],
    ["the same host by another name", "http://localhost/"],
    ["the metadata service", "http://169.254.169.254/latest/meta-data"],
    ["a file", "file:///etc/passwd"],
    ["an address without a protocol", "//evil.example/x"],
    ["a user name in the address", "http://user:pass@127.0.0.1/"],
    ["data", "data:text/plain,x"],
  ];
  for (const [what, to] of redirects) {
    it(`a redirect to ${what} is not followed`, async () => {
      const thrown = await failureOf(run({ url: at("/redirect"), parameters: { to: text } }, { to }));
      expect(thrown.code).to.equal("tool_denied");
      expect(server.seen).to.have.length(1);
    });
  }

  it("follows a redirect within the list, to an end, and only for GET", async () => {
    expect(await run({ url: at("/redirect"), parameters: { to: text } }, { to: "/any?x=1" })).to.have.nested.property(
      "body.path",
      "/any",
    );
    expect((await failureOf(run({ url: at("/loop") }))).message).to.contain("too often");
    const posted = await failureOf(run({ url: at("/redirect?to=/any"), method: "POST" }));
    expect(posted.message).to.contain("not followed");
  });

  it("follows as many redirects as it may, and no more", async () => {
    const chain = (hops: number): string =>
      hops === 0 ? "/any" : `/redirect?to=${encodeURIComponent(chain(hops - 1))}`;
    const given = { maxRedirects: 2 };
    expect(await run({ url: at(chain(2)) }, {}, { given })).to.have.nested.property("body.path", "/any");
    const thrown = await failureOf(run({ url: at(chain(3)) }, {}, { given }));
    expect(thrown).to.include({ op: "tool.call", code: "tool_failed" });
    expect((await failureOf(run({ url: at(chain(1)) }, {}, { given: { maxRedirects: 0 } }))).message).to.contain(
      "too often",
    );
    expect(await run({ url: at(chain(1)), method: "HEAD" })).to.have.property("status", 200);
  });

  it("says who it is and what it takes, and names the call only where it has an effect", async () => {
    const given = { idempotencyHeader: "x-once" };
    const context = { idempotencyKey: "run:1" };
    await run({ url: at("/any") }, {}, { given, context });
    await run({ url: at("/any"), method: "PUT", effect: "idempotent" }, {}, { given, context });
    const [read, changed] = server.seen;
    expect(read?.headers).to.include({
      accept: "application/json, text/*;q=0.9, */*;q=0.5",
      "user-agent": "venturi",
    });
    expect(read?.headers).not.to.have.any.keys("x-once", "idempotency-key");
    expect(changed?.headers).to.include({ "x-once": "run:1" });
  });

  it("closed, it leaves no connection open", async () => {
    const sockets: Promise<unknown>[] = [];
    const patient = createServer((_, response) => void response.end("{}"));
    patient.keepAliveTimeout = 0; // it closes none by itself
    patient.on("connection", (socket) => void sockets.push(once(socket, "close")));
    patient.listen(0, "127.0.0.1");
    await once(patient, "listening");
    const { port } = patient.address() as AddressInfo;
    await run({ url: `http://127.0.0.1:${port}/` }, {}, { given: { allowPrivate: [`127.0.0.1:${port}`] } });
    expect(sockets).to.have.length(1);
    source?.close();
    await Promise.all(sockets);
    patient.close();
  });

  it("credentials do not go along to another listed host", async () => {
    const other = await startServer();
    const given = {
      hosts: [`127.0.0.1:${server.port}`, `127.0.0.1:${other.port}`],
      allowPrivate: [`127.0.0.1:${server.port}`, `127.0.0.1:${other.port}`],
    };
    const to = `http://127.0.0.1:${other.port}/any`;
    await run({ url: at("/redirect"), parameters: { to: text } }, { to }, { given });
    await other.stop();
    expect(other.seen).to.have.length(1);
    expect(other.seen[0]?.headers).not.to.have.property("authorization");
  });

  it("private addresses are refused however they are written, without a connection being made", async () => {
    const hosts = [
      "127.0.0.1",
      "localhost",
      "127.1",
      "2130706433",
      "0x7f.0.0.1",
      "0177.0.0.1",
      "0.0.0.0",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "10.0.0.1",
      "172.16.0.1",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "[fd00::1]",
      "[fe80::1]",
    ];
    for (const host of hosts) {
      const url = `http://${host}:${server.port}/any`;
      const given = { allowPrivate: [], hosts: [new URL(url).host], timeout: "2s" };
      expect((await failureOf(run({ url }, {}, { given }))).code, host).to.equal("tool_denied");
    }
    expect(server.seen).to.deep.equal([]);
  });

  it("a host that the model fills in must be on the list", async () => {
    const operation = { url: `http://{host}:${server.port}/any`, parameters: { host: text } };
    expect((await failureOf(run(operation, { host: "x" }))).code).to.equal("config_invalid");
    const given = { hosts: [`127.0.0.1:${server.port}`, `*.example.test:${server.port}`] };
    await run(operation, { host: "127.0.0.1" }, { given });
    for (const host of [
      "evil.test",
      "example.test",
      "127.0.0.1@evil.test",
      "evil.test#",
      "evil.test/",
      "xexample.test",
      "",
    ]) {
      expect((await failureOf(run(operation, { host }, { given }))).code, host).to.match(
        /tool_denied|tool_invalid_arguments/,
      );
    }
    expect(server.seen).to.have.length(1);
  });

  it("offers the chosen operations of an OpenAPI document", async () => {
    writeFileSync(join(folder, "petstore.yaml"), petstore(at("/v2")));
    source = await open({
      ...options,
      openapi: { file: "petstore.yaml", operations: ["getPet", "addPet", "findPets"] },
    });
    expect(source.list().map((tool) => `${tool.name} ${tool.effect}`)).to.deep.equal([
      "api_getPet pure",
      "api_addPet effectful",
      "api_findPets pure",
    ]);
    const [getPet, addPet, findPets] = source.list();
    if (getPet === undefined || addPet === undefined || findPets === undefined) return expect.fail("a tool is missing");
    expect(getPet.parameters).to.deep.equal({
      type: "object",
      properties: { petId: { description: "Number of the pet", type: "integer" }, "X-Lang": { type: "string" } },
      required: ["petId"],
      additionalProperties: false,
    });
    await callTool(getPet, { petId: 7, "X-Lang": "de" });
    await callTool(addPet, { body: { name: "Rex", friends: [{ name: "Tom" }] } });
    await callTool(findPets, { tags: ["a b", "c"], limit: 2 });
    expect(server.seen.map((entry) => `${entry.method} ${entry.url} ${entry.body}`)).to.deep.equal([
      "GET /v2/pets/7 ",
      'POST /v2/pets {"name":"Rex","friends":[{"name":"Tom"}]}',
      "GET /v2/pets?tags=a+b&tags=c&limit=2 ",
    ]);
    expect(server.seen[0]?.headers["x-lang"]).to.equal("de");
  });

  it("says what is wrong with an OpenAPI document", async () => {
    writeFileSync(join(folder, "petstore.yaml"), petstore("https://pets.test"));
    writeFileSync(join(folder, "swagger.yaml"), "swagger: '2.0'");
    const openapi = (file: string, operations: string[]) => failureOf(open({ openapi: { file, operations } }));
    expect((await openapi("petstore.yaml", ["getCat"])).message).to.contain('no operation "getCat"; it has getPet');
    expect((await openapi("swagger.yaml", ["x"])).message).to.contain("not an OpenAPI 3 document");
    for (const server of ["//pets.test", "/v2", "git+https://pets.test", "https://{host}.test"]) {
      writeFileSync(join(folder, "server.yaml"), petstore(server));
      expect((await openapi("server.yaml", ["getPet"])).message, server).to.contain("no full server address");
    }
    expect((await openapi("nowhere.yaml", ["x"])).code).to.equal("config_invalid");
  });
});
