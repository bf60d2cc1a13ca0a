import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { parse } from "yaml";
import { configSchema } from "../../../src/host/config/json-schema.ts";
import { PluginLoader } from "../../../src/host/plugins/plugin-loader.ts";

const root = new URL("../../../../", import.meta.url);

describe("the JSON Schema of the configuration", () => {
  let accepts: (text: string) => boolean;
  before(async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validate = ajv.compile(await configSchema(new PluginLoader()));
    accepts = (text) => validate(parse(text));
  });

  it("accepts the default configuration as it is written", () => {
    expect(accepts(readFileSync(new URL("config/venturi.yaml", root), "utf8"))).to.equal(true);
  });

  it("knows the options of each plugin", () => {
    expect(accepts("tools: { clock: { type: clock, timeZone: Europe/Berlin } }")).to.equal(true);
    expect(accepts("tools: { clock: { type: clock, timeZon: Europe/Berlin } }")).to.equal(false);
    expect(accepts("tools: { clock: { type: calculator, timeZone: Europe/Berlin } }")).to.equal(false);
  });

  it("knows the keys that every entry of a kind has", () => {
    expect(accepts("tools: { clock: { type: clock, approval: always, effect: pure, enabled: false } }")).to.equal(true);
    expect(accepts("tools: { clock: { type: clock, approval: sometimes } }")).to.equal(false);
  });

  it("lets a channel go without a type when its key says it", () => {
    expect(accepts("channels: { http: {}, mine: { type: channel-http } }")).to.equal(true);
    expect(accepts("channels: { http: { nonsense: 1 } }")).to.equal(false);
    expect(accepts("channels: { mine: {} }")).to.equal(false);
  });

  it("allows a reference wherever a value is not free text", () => {
    expect(accepts('limits: { activeRuns: "${env:RUNS}", drain: "${env:DRAIN:-5s}" }')).to.equal(true);
    expect(accepts("limits: { activeRuns: many }")).to.equal(false);
  });

  it("explains every key", async () => {
    const silent: string[] = [];
    const walk = (schema: Record<string, unknown>, path: string): void => {
      for (const [key, each] of Object.entries((schema.properties ?? {}) as Record<string, Record<string, unknown>>)) {
        if (each.description === undefined) silent.push(`${path}${key}`);
        walk(each, `${path}${key}.`);
      }
      for (const form of (schema.anyOf ?? []) as Record<string, unknown>[]) walk(form, path);
    };
    const { properties } = await configSchema(new PluginLoader());
    for (const section of ["models", "agents", "server", "telemetry", "limits"]) {
      const schema = properties?.[section] as Record<string, unknown>;
      walk(schema, `${section}.`);
      if (typeof schema.additionalProperties === "object")
        walk(schema.additionalProperties as Record<string, unknown>, `${section}.*.`);
    }
    expect(silent).to.deep.equal([]);
  });
});
