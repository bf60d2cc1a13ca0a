import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import type { VenturiError } from "../../../src/core/errors/errors.ts";
import { PluginLoader } from "../../../src/host/plugins/plugin-loader.ts";
import { sample, testFolder } from "../folder.ts";

const failure = async (promise: Promise<unknown>): Promise<VenturiError> =>
  promise.then(
    () => expect.fail("it did not fail"),
    (thrown: VenturiError) => thrown,
  );

describe("the plugin loader", () => {
  const folder = testFolder();

  it("finds the plugins of the box by their folder", async () => {
    const loader = new PluginLoader();
    expect(loader.names()).to.include("clock");
    const { plugin, from, version } = await loader.get("clock");
    expect([plugin.name, plugin.kind, from]).to.deep.equal(["clock", "tool", "box"]);
    expect(version).to.match(/^\d+\.\d+\.\d+$/);
  });

  it("loads a plugin from a path", async () => {
    const loader = new PluginLoader();
    const { plugin, from } = await loader.add(sample("tool"), "/");
    expect(plugin.name).to.equal("sample-tool");
    expect(from).to.equal(sample("tool"));
    expect((await loader.get("sample-tool")).plugin).to.equal(plugin);
  });

  it("loads a plugin from an npm package that is installed above the config", async () => {
    const home = folder.path("node_modules/@acme/jira");
    mkdirSync(home, { recursive: true });
    const exports = { ".": { import: { types: "./no.d.ts", default: "./main.js" } } };
    writeFileSync(`${home}/package.json`, JSON.stringify({ version: "4.5.6", type: "module", exports }));
    writeFileSync(`${home}/main.js`, `export { default } from ${JSON.stringify(pathToFileURL(sample("tool")).href)};`);
    const loaded = await new PluginLoader().add("@acme/jira", folder.path("deep/config"));
    expect([loaded.plugin.name, loaded.from, loaded.version]).to.deep.equal(["sample-tool", "@acme/jira", "4.5.6"]);
  });

  describe("a plugin that is a package of its own", () => {
    const empty = () => folder.path("box");
    const loader = () => new PluginLoader({ box: empty(), folders: [folder.path("deep/config")] });
    const install = (version: string) => {
      const home = folder.path("node_modules/@venturi/nats");
      mkdirSync(home, { recursive: true });
      writeFileSync(`${home}/package.json`, JSON.stringify({ version, type: "module", exports: "./main.js" }));
      const plugin = `{ name: "nats", kind: "journal", options: { safeParse() {} }, create() {} }`;
      writeFileSync(`${home}/main.js`, `export default ${plugin};`);
    };
    const version = () => JSON.parse(readFileSync("package.json", "utf8")).version as string;

    it("is named with what to install while it is missing", async () => {
      expect(loader().has("postgres")).to.equal(true);
      expect(loader().names()).not.to.include("postgres");
      const error = await failure(loader().get("postgres"));
      expect([error.op, error.code]).to.deep.equal(["plugin.load", "plugin_failed"]);
      expect(error.message).to.equal("plugin postgres: it is a separate package; run `npm install @venturi/postgres`");
    });

    it("is found above the configuration, by its name alone", async () => {
      install(version());
      expect(loader().names()).to.deep.equal(["nats"]);
      const loaded = await loader().get("nats");
      expect([loaded.plugin.kind, loaded.from, loaded.version]).to.deep.equal(["journal", "@venturi/nats", version()]);
    });

    it("is refused in another version than Venturi's", async () => {
      install("0.0.1");
      const error = await failure(loader().get("nats"));
      expect(error.message).to.match(/@venturi\/nats is 0\.0\.1 and venturi .*npm install @venturi\/nats@\d/);
    });

    it("is the one of the box where that has it, also when it is named as a package", async () => {
      const { from, plugin } = await new PluginLoader().add("@venturi/nats", "/");
      expect([from, plugin.name]).to.deep.equal(["box", "nats"]);
    });
  });

  it("refuses a second plugin with the same name, naming both", async () => {
    const loader = new PluginLoader();
    await loader.add(sample("tool"), "/");
    const error = await failure(loader.add(sample("twin"), "/"));
    expect(error.code).to.equal("plugin_failed");
    expect(error.message).to.include(sample("tool")).and.include(sample("twin")).and.include('"sample-tool"');
  });

  it("refuses a plugin that takes the name of one in the box", async () => {
    const error = await failure(new PluginLoader().add(sample("shadow"), "/"));
    expect(error.message).to.match(/its name "clock" is already taken by the box/);
  });

  it("refuses a plugin of another plugin API, saying which of the two to update", async () => {
    const write = (api: number) => {
      const file = folder.path(`api-${api}.mjs`);
      const text = `export default { api: ${api}, name: "later-${api}", kind: "tool", options: { safeParse() {} }, create() {} };`;
      writeFileSync(file, text);
      return file;
    };
    const newer = await failure(new PluginLoader().add(write(2), "/"));
    expect([newer.code, newer.message]).to.deep.equal([
      "config_invalid",
      `plugin ${folder.path("api-2.mjs")} is written for plugin API 2, and this Venturi has 1; update venturi`,
    ]);
    const older = await failure(new PluginLoader().add(write(0), "/"));
    expect(older.message).to.match(/install a newer version of the plugin$/);
    expect((await new PluginLoader().add(write(1), "/")).plugin.name).to.equal("later-1");
  });

  const broken: [string, string, RegExp][] = [
    ["a module without a plugin as its default export", sample("broken-export"), /default export is not a plugin/],
    ["a module that throws", sample("broken-throws"), /its database driver is missing/],
    ["a path that does not exist", "./nowhere", /nowhere does not exist/],
    ["a package that is not installed", "@acme/absent", /npm install @acme\/absent/],
  ];
  for (const [what, specifier, message] of broken) {
    it(`${what} is a plugin_failed that names the plugin`, async () => {
      const error = await failure(new PluginLoader().add(specifier, folder.path(".")));
      expect(error.code).to.equal("plugin_failed");
      expect(error.message).to.match(message).and.include(specifier);
    });
  }

  it("a folder that is not built yet says so", async () => {
    folder.write({ "plugin/package.json": JSON.stringify({ exports: "./dist/index.js" }) });
    const error = await failure(new PluginLoader().add("./plugin", folder.path(".")));
    expect(error.message).to.match(/neither \.\/dist\/index\.js nor .* build it first/);
  });

  it("a package.json that is no JSON is named", async () => {
    folder.write({ "plugin/package.json": "{" });
    const error = await failure(new PluginLoader().add("./plugin", folder.path(".")));
    expect(error.message).to.match(/package\.json can't be read/);
  });

  it("a name outside the box is a plugin_failed", async () => {
    expect((await failure(new PluginLoader().get("../src"))).code).to.equal("plugin_failed");
  });
});
