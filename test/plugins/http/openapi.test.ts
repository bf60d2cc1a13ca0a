import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { egressOf } from "../../../plugins/http/hosts.ts";
import { type OpenApiSource, readOpenApi } from "../../../plugins/http/openapi.ts";
import { fromConfig, OperationOptions } from "../../../plugins/http/operation.ts";
import { HttpToolOptions } from "../../../plugins/http/options.ts";
import { deref, named } from "../../../plugins/http/references.ts";
import { toOutput } from "../../../plugins/http/response.ts";
import { RichOutput, type VenturiError } from "../../../src/plugin.ts";

const folder = mkdtempSync(join(tmpdir(), "venturi-openapi-"));
after(() => rmSync(folder, { recursive: true }));
const text = { type: "string" };
const failureOf = (promise: Promise<unknown>): Promise<VenturiError> =>
  promise.then(
    (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );

const read = async (document: object | string, source: Partial<OpenApiSource> = {}) => {
  writeFileSync(join(folder, "api.yaml"), typeof document === "string" ? document : JSON.stringify(document));
  return await readOpenApi({ file: "api.yaml", operations: ["op"], effects: {}, ...source }, folder);
};
const document = (paths: object, more: object = {}) => ({
  openapi: "3.1.0",
  servers: [{ url: "https://api.example/v2/" }],
  paths,
  ...more,
});

describe("an operation of an OpenAPI document", () => {
  it("sends each parameter where it belongs, and a body of JSON", async () => {
    const [operation] = await read(
      document({
        "/pets/{id}": {
          parameters: [{ name: "id", in: "path", schema: text }],
          put: {
            operationId: "op",
            summary: "Short",
            description: "Long",
            parameters: [
              { name: "view", in: "query", description: "how much", schema: text },
              { name: "x-kind", in: "header", required: true },
              { name: "session", in: "cookie", required: true },
            ],
            requestBody: {
              required: true,
              content: { "text/plain": {}, "application/merge+json": { schema: { type: "object" } } },
            },
          },
        },
      }),
    );
    expect(operation).to.deep.include({
      name: "op",
      description: "Long",
      effect: "effectful",
      method: "PUT",
      address: "https://api.example/v2/pets/{id}",
      parameters: {
        type: "object",
        properties: { id: text, view: { description: "how much", ...text }, "x-kind": {}, body: { type: "object" } },
        required: ["id", "x-kind", "body"],
        additionalProperties: false,
      },
    });
    expect(operation?.prepare({ id: "a/b", view: "all", "x-kind": 7, body: { n: 1 } })).to.deep.equal({
      url: "https://api.example/v2/pets/a%2Fb?view=all",
      headers: { "x-kind": "7" },
      body: { n: 1 },
    });
    expect(operation?.prepare({ id: "a" })).to.deep.equal({ url: "https://api.example/v2/pets/a", headers: {} });
  });

  it("replaces its path's parameter of the same name and place, and requires no name twice", async () => {
    const [operation] = await read(
      document({
        "/pets/{id}": {
          parameters: [
            { name: "id", in: "path", required: true, schema: text },
            { name: "view", in: "query", required: true, schema: text },
          ],
          get: {
            operationId: "op",
            parameters: [
              { name: "id", in: "path", required: true, schema: { type: "integer" } },
              { name: "view", in: "query", schema: { type: "boolean" } },
              { name: "id", in: "query", required: true, schema: { type: "integer" } },
            ],
          },
        },
      }),
    );
    expect(operation?.parameters).to.deep.include({
      properties: { id: { type: "integer" }, view: { type: "boolean" } },
      required: ["id"],
    });
    expect(operation).to.deep.include({ description: "GET /v2/pets/%7Bid%7D", effect: "pure" });
  });

  it("may have a body that is optional, or of another type than JSON, which is not offered", async () => {
    const of = async (requestBody: object) => {
      const [operation] = await read(
        document({ "/x": { post: { operationId: "op", summary: "Short", requestBody } } }),
      );
      expect(operation?.description).to.equal("Short");
      return operation?.parameters;
    };
    const optional = await of({ content: { "application/json": { schema: text } } });
    expect(optional).to.deep.include({ properties: { body: text }, required: [] });
    const plain = await of({ required: true, content: { "text/jsonp": { schema: text } } });
    expect(plain).to.deep.include({ properties: {}, required: [] });
  });

  it("is found by its id among the methods, in the order of the config, with the config's effect", async () => {
    const paths = {
      "/a": { get: { operationId: "one" }, summary: "no operation", delete: { operationId: "three" }, trace: 7 },
      "/b": { $ref: "#/components/pathItems/b" },
    };
    const components = { pathItems: { b: { patch: { operationId: "two" }, post: { operationId: 7 } } } };
    const found = await read(document(paths, { components }), {
      operations: ["two", "one", "three"],
      effects: { two: "idempotent" },
    });
    expect(found.map(({ name, method, effect }) => `${name} ${method} ${effect}`)).to.deep.equal([
      "two PATCH idempotent",
      "one GET pure",
      "three DELETE effectful",
    ]);
    const missing = await failureOf(read(document(paths, { components }), { operations: ["none"] }));
    expect(missing).to.include({ op: "tool.create", code: "config_invalid" });
    expect(missing.message).to.include('no operation "none"; it has one, three');
  });

  it("goes to the document's first server, or to the config's", async () => {
    const paths = { "/a": { get: { operationId: "op" } } };
    const addressOf = async (more: object, source: Partial<OpenApiSource> = {}) =>
      (await read(document(paths, more), source))[0]?.address;
    expect(await addressOf({})).to.equal("https://api.example/v2/a");
    expect(await addressOf({ servers: [] }, { server: "http://other.example" })).to.equal("http://other.example/a");
    for (const servers of [undefined, [], [7], [{}], [{ url: "/v2" }], [{ url: "https://{region}.example" }], "x"])
      expect((await failureOf(addressOf({ servers }))).message, JSON.stringify(servers)).to.include("openapi.server");
  });

  it("of a document that is none is a mistake in the config, with the file", async () => {
    for (const wrong of ["openapi: '2.0'", "swagger: '2.0'", "- a", "a: [", "openapi: 3"]) {
      const error = await failureOf(read(wrong));
      expect(error, wrong).to.include({ code: "config_invalid" });
      expect(error.message).to.include("api.yaml");
    }
    const odd = document({ "/a": { get: { operationId: "op", parameters: [{ name: "x", in: "body" }] } } });
    expect((await failureOf(read(odd))).message).to.include("op");
    expect(
      await read(
        "openapi: 3.0.0\nservers: [{ url: 'https://a.example' }]\npaths: { /a: { get: { operationId: op } } }",
      ),
    ).to.have.length(1);
  });
});

describe("the references of an OpenAPI document", () => {
  const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) });

  it("are copied in place, and recursive ones become anything", () => {
    const source = {
      $defs: { node: { next: { $ref: "#/$defs/node" }, name: text }, list: [{ $ref: "#/$defs/name" }], name: text },
    };
    expect(deref(source, { a: { $ref: "#/$defs/node" }, b: [{ $ref: "#/$defs/list" }], c: null })).to.deep.equal({
      a: { next: {}, name: text },
      b: [[text]],
      c: null,
    });
    expect(named(source, { $ref: "#/$defs/name" })).to.equal(text);
    expect(named(source, { $ref: 7 })).to.deep.equal({ $ref: 7 });
    expect(named({ a: { $ref: "#/a" } }, { $ref: "#/a" }), "a circle").to.deep.equal({ $ref: "#/a" });
  });

  it("that name nothing, or another document, are a mistake", () => {
    for (const $ref of ["#/none", "other.yaml#/a", "#a", ""])
      expect(() => deref({ a: 1 }, { $ref }), $ref)
        .to.throw("names nothing")
        .that.includes({ op: "tool.create", code: "config_invalid" });
  });

  it("that multiply or nest without end are refused before memory is", () => {
    expect(deref({}, nested(250))).to.deep.equal(nested(250));
    expect(() => deref({}, nested(300))).to.throw("more than 20000 values");
    const lists = Array.from({ length: 300 }).reduce<unknown>((inner) => [inner], 1);
    expect(() => deref({}, lists)).to.throw("more than 20000 values");
    const bomb: Record<string, unknown> = { l0: "x" };
    for (let n = 1; n < 20; n++) bomb[`l${n}`] = [{ $ref: `#/l${n - 1}` }, { $ref: `#/l${n - 1}` }];
    expect(() => deref(bomb, { $ref: "#/l19" })).to.throw("more than 20000 values");
    expect(
      deref(
        {},
        Array.from({ length: 19_998 }, () => 1),
      ),
    ).to.have.length(19_998);
    expect(() =>
      deref(
        {},
        Array.from({ length: 20_000 }, () => 1),
      ),
    ).to.throw("more than 20000 values");
  });
});

describe("an operation of the config", () => {
  const operation = (options: object) =>
    fromConfig("op", OperationOptions.parse({ description: "x", url: "https://a.example/{id}", ...options }));

  it("requires what has no default and is not optional", () => {
    const parameters = { id: text, size: { type: "integer", default: 5 }, tag: text, any: true, none: null };
    expect(operation({ parameters, optional: ["tag"] }).parameters).to.deep.equal({
      type: "object",
      properties: parameters,
      required: ["id", "any", "none"],
      additionalProperties: false,
    });
  });

  it("sends what it uses nowhere as a query or as the body, and numbers and yes or no as they are written", () => {
    const input = { id: 7, on: true, q: "a b", list: [1, "x"], deep: { a: 1 } };
    for (const method of ["GET", "HEAD", "DELETE"])
      expect(operation({ method }).prepare(input), method).to.deep.equal({
        url: "https://a.example/7?on=true&q=a+b&list=1&list=x&deep=%7B%22a%22%3A1%7D",
        headers: {},
      });
    for (const method of ["POST", "PUT", "PATCH"])
      expect(operation({ method }).prepare(input), method).to.deep.equal({
        url: "https://a.example/7",
        headers: {},
        body: { on: true, q: "a b", list: [1, "x"], deep: { a: 1 } },
      });
    const filled = operation({
      method: "POST",
      headers: { "x-on": "is {on}" },
      query: { q: "{q}", left: "{none}" },
      body: { deep: ["{deep}", "{id}!"], gone: "{none}", n: 1, nil: null },
    });
    expect(filled.prepare(input)).to.deep.equal({
      url: "https://a.example/7?q=a+b",
      headers: { "x-on": "is true" },
      body: { deep: [{ a: 1 }, "7!"], gone: undefined, n: 1, nil: null },
    });
  });

  it("whose parameters form no URL, or are missing, is refused", () => {
    for (const [url, input, code] of [
      ["https://a.example/{id}", {}, "tool_invalid_arguments"],
      ["https://a.example/{id}", { id: null }, "tool_invalid_arguments"],
      ["https://{id}/", { id: "a b" }, "tool_invalid_arguments"],
      ["https://a.example/{id}/x", { id: ".." }, "tool_denied"],
      ["https://a.example/{id}/x", { id: "." }, "tool_denied"],
    ] as const)
      expect(() => operation({ url }).prepare(input), url)
        .to.throw()
        .that.includes({ op: "tool.call", code });
    expect(operation({ url: "https://a.example/x?p={id}" }).prepare({ id: ".." }).url).to.equal(
      "https://a.example/x?p=..",
    );
  });

  it("asks only its own host unless the config lists others, and never one that the model chooses", () => {
    const egress = (url: string, more: object = {}) =>
      egressOf(HttpToolOptions.parse({ operations: {}, ...more }), [operation({ url })]);
    egress("https://a.example:8443/{id}").check(new URL("https://a.example:8443/x"));
    for (const other of ["https://b.example/", "https://a.example/"])
      expect(() => egress("https://a.example:8443/{id}").check(new URL(other)), other).to.throw();
    expect(() => egress("https://{id}.example/x"))
      .to.throw("lists the hosts".replace("lists", "list"))
      .that.includes({ op: "tool.create", code: "config_invalid" });
    egress("https://{id}.example/x", { hosts: ["b.example"] }).check(new URL("https://b.example/x"));
  });
});

describe("an HTTP answer for the model", () => {
  const redact = (words: string) => words.replaceAll("s3cret", "[KEY]");
  const output = (body: string | Buffer, type = "", { status = 200, most = 1_000, headers = {} } = {}) =>
    toOutput(
      { status, headers: { ...(type === "" ? {} : { "content-type": type }), ...headers }, body: Buffer.from(body) },
      most,
      redact,
    );

  it("is JSON parsed, other text as it is, without secrets", () => {
    expect(output('{"a":"s3cret"}', "application/json; charset=utf-8")).to.deep.equal({
      status: 200,
      body: { a: "[KEY]" },
    });
    expect(output("[1]", "application/problem+json", { status: 201 })).to.deep.equal({ status: 201, body: [1] });
    expect(output("[1]", "text/json5")).to.deep.equal({ status: 200, body: "[1]" });
    expect(output("[1", "application/json")).to.deep.equal({ status: 200, body: "[1" });
    expect(output("[1]")).to.deep.equal({ status: 200, body: "[1]" });
  });

  it("is cut at its limit, and says so", () => {
    expect(output("12345", "text/plain", { most: 5 })).to.deep.equal({ status: 200, body: "12345" });
    const cut = { status: 200, body: "[1,2,", truncated: "cut after 5 bytes" };
    expect(output("[1,2,3]", "application/json", { most: 5 })).to.deep.equal(cut);
  });

  it("is an image beside its size, and other bytes by theirs", () => {
    const image = output(Buffer.from([1, 0, 2]), "image/png") as RichOutput;
    expect(image).to.be.instanceOf(RichOutput);
    expect([image.text, image.images]).to.deep.equal([
      "status 200, image/png, 3 bytes",
      [{ mediaType: "image/png", data: "AQAC" }],
    ]);
    expect(output("<svg/>", "image/svg+xml")).to.deep.equal({ status: 200, body: "<svg/>" });
    expect(output(Buffer.from([1, 0, 2]), "image/png", { most: 2 })).to.deep.equal({
      status: 200,
      body: "[image/png, 2 bytes]",
    });
    expect(output(Buffer.from([1, 0, 2]))).to.deep.equal({ status: 200, body: "[data, 3 bytes]" });
  });

  it("with a status of 400 or more fails the call, with what it said", () => {
    const failed = (...given: Parameters<typeof output>) => {
      try {
        return expect.fail(`it answered ${JSON.stringify(output(...given))}`);
      } catch (thrown) {
        return thrown as VenturiError;
      }
    };
    const error = failed(`no s3cret${"x".repeat(2_000)}`, "text/plain", {
      status: 400,
      most: 5_000,
      headers: { "retry-after": "7" },
    });
    expect(error).to.include({ op: "tool.call", code: "tool_failed" });
    expect(error.message).to.equal(`status 400 (retry after 7): no [KEY]${"x".repeat(992)}`);
    expect(error.details).to.deep.equal({ status: 400 });
    const across = failed(`${"x".repeat(996)}s3cret`, "", { status: 500, most: 5_000 });
    expect(across.message, "a secret across the end of the excerpt").not.to.include("s3");
    expect(failed("", "", { status: 503 }).message).to.equal("status 503: no body");
    expect(output("", "", { status: 399 })).to.deep.equal({ status: 399, body: "" });
  });
});
