import { expect } from "chai";
import { z } from "zod";
import { named } from "../../../src/core/values/schema-names.ts";
import { OpenApi, refuseQuery, serializerCompiler, validatorCompiler } from "../../../src/host/http/openapi.ts";

const Pet = z.object({ name: z.string(), age: z.number().default(1) });
const Owner = z.object({ pets: z.array(Pet) });
named("TestPet", Pet);
named("TestOwner", Owner);
const pet = "#/components/schemas/TestPet";

describe("routes with zod schemas", () => {
  it("parse what is sent, and fill in what is left out", () => {
    const check = validatorCompiler({ schema: Pet, url: "/v1/pets", httpPart: "body" });
    expect(check({ name: "Rex" })).to.deep.equal({ value: { name: "Rex", age: 1 } });
    const { error } = check({ age: 2 });
    expect(error).to.include({ op: "request.parse", code: "invalid_input" });
    expect(error?.details).to.have.nested.property("param", "name");
    expect(() => validatorCompiler({ schema: { type: "object" } })).to.throw(TypeError);
  });

  it("name the part of the request in which nothing can be named", () => {
    const errors = ["body", "querystring", "params", undefined].map((httpPart) => {
      const route = { schema: Pet, url: "/x", ...(httpPart === undefined ? {} : { httpPart }) };
      return validatorCompiler(route)([]).error;
    });
    expect(errors.map((error) => error?.message.split(":")[0])).to.deep.equal(["body", "query", "params", "body"]);
    for (const error of errors) expect(error?.details).not.to.have.property("param");
  });

  it("tell at most twenty issues", () => {
    const check = validatorCompiler({ schema: z.array(z.number()) });
    const { error } = check(Array.from({ length: 40 }, () => "x"));
    expect(error?.details).to.have.nested.property("issues.length", 20);
  });

  it("refuse unknown query parameters in our own API only, and not where the schema takes others", () => {
    const Query = z.object({ limit: z.string().optional() });
    const query = (schema: z.ZodType, url?: string, httpPart = "querystring") =>
      validatorCompiler({ schema, httpPart, ...(url === undefined ? {} : { url }) })({ limt: "5" });
    expect(query(Query, "/v1/runs").error).to.have.property("code", "invalid_input");
    expect(query(Query, "/openai/v1/models").error).to.equal(undefined);
    expect(query(Query).error).to.equal(undefined);
    expect(query(Query, "/v1/runs", "body").error).to.equal(undefined);
    expect(query(z.looseObject({}), "/v1/runs")).to.deep.equal({ value: { limt: "5" } });
    expect(query(z.record(z.string(), z.string()), "/v1/runs").error).to.equal(undefined);
  });

  it("of our own API without query parameters refuse any", () => {
    const body = z.object({});
    const route = { url: "/v1/agents", schema: { body } } as { url: string; schema?: Record<string, unknown> };
    refuseQuery(route);
    expect(route.schema).to.have.property("body", body);
    expect(route.schema).to.have.deep.nested.property("querystring.shape", {});
    const own = { url: "/v1/agents", schema: { querystring: body } };
    refuseQuery(own);
    expect(own.schema.querystring).to.equal(body);
    const foreign = { url: "/openai/v1/models" };
    refuseQuery(foreign);
    expect(foreign).to.deep.equal({ url: "/openai/v1/models" });
    const bare = { url: "/v1/agents" } as { url: string; schema?: { querystring?: unknown } };
    refuseQuery(bare);
    expect(bare.schema?.querystring).to.be.instanceOf(z.ZodObject);
  });

  it("answer in JSON", () => {
    expect(serializerCompiler()({ a: [1, null] })).to.equal('{"a":[1,null]}');
  });
});

describe("the OpenAPI document", () => {
  it("keeps a route's other fields, and has JSON Schemas in place of zod's", () => {
    const api = new OpenApi();
    const { schema, url } = api.route({
      url: "/v1/pets",
      schema: {
        summary: "Pets",
        tags: ["pets"],
        body: z.object({ name: z.string().optional() }),
        querystring: z.object({ limit: z.coerce.number().default(5) }),
        params: z.object({ id: z.string() }),
        headers: z.object({ prefer: z.string() }),
        response: { 204: { description: "nothing" }, 404: null, 200: z.object({ ok: z.boolean() }) },
      } as never,
    });
    expect(url).to.equal("/v1/pets");
    expect(schema).to.deep.include({ summary: "Pets", tags: ["pets"] });
    for (const place of ["body", "querystring", "params", "headers"] as const) {
      expect(schema[place], place).to.have.property("type", "object");
      expect(schema[place], place).not.to.have.property("$schema");
    }
    expect(schema.querystring, "what is sent, not what is parsed").not.to.have.property("required");
    const responses = schema.response as Record<string, Record<string, unknown>>;
    expect(responses["204"]).to.deep.equal({ description: "nothing" });
    expect(responses["404"]).to.equal(null);
    expect(responses["200"]).to.have.nested.property("properties.ok.type", "boolean");
  });

  it("has no responses where a route names none", () => {
    expect(new OpenApi().route({ url: "/x", schema: {} }).schema).to.deep.equal({});
    const odd = { response: null, body: { type: "object" } } as never;
    expect(new OpenApi().route({ url: "/x", schema: odd }).schema).to.deep.equal(odd);
  });

  it("has answers per media type", () => {
    const content = {
      "application/json": { schema: Pet, example: { name: "Rex" } },
      "text/plain": { schema: z.any() },
    };
    const answer = { description: "a pet", content };
    const { schema } = new OpenApi().route({ url: "/x", schema: { response: { 200: answer } } as never });
    const { 200: found } = schema.response as { 200: Record<string, unknown> };
    expect(found).to.deep.equal({
      description: "a pet",
      content: {
        "application/json": { example: { name: "Rex" }, schema: { $ref: pet } },
        "text/plain": { schema: {} },
      },
    });
  });

  it("names schemas once, sorted, and refers to them wherever they stand", () => {
    const api = new OpenApi();
    const described = Pet.describe("the pet to keep");
    named("TestPet", Pet);
    const { schema } = api.route({
      url: "/x",
      schema: { body: Pet, params: z.object({ of: z.union([Owner, Pet]) }), headers: described } as never,
    });
    expect(schema.body).to.deep.equal({ $ref: pet });
    const { components } = api.document({ components: { schemas: { Zebra: {} }, securitySchemes: { key: {} } } } as {
      components?: { schemas?: Record<string, unknown>; securitySchemes?: unknown };
    });
    expect(Object.keys(components?.schemas ?? {})).to.deep.equal(["Zebra", "TestOwner", "TestPet"]);
    expect(components?.securitySchemes).to.deep.equal({ key: {} });
    expect(components?.schemas?.TestOwner).to.have.nested.property("properties.pets.items.$ref", pet);
    expect(JSON.stringify([schema, components])).not.to.include("$defs");
    expect(api.document({})).to.have.nested.property("components.schemas.TestPet");
  });
});
