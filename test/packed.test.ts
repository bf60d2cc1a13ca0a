import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../../", import.meta.url));

interface Ran {
  readonly exit: number | null;
  readonly text: string;
}

function run(command: string, words: readonly string[], cwd: string): Ran {
  const { status, stdout, stderr, error } = spawnSync(command, words, { cwd, encoding: "utf8", timeout: 300_000 });
  return { exit: status, text: `${stdout}${stderr}${error ?? ""}` };
}
const node = (words: readonly string[], cwd: string): Ran => run(process.execPath, words, cwd);

describe("a plugin in a folder of its own, with venturi from its packed tarball", function () {
  this.timeout(600_000);
  let home = "";
  let bin = "";

  /** As `npm install` would leave it, without a registry: venturi unpacked, its dependencies linked. */
  before(() => {
    home = mkdtempSync(join(tmpdir(), "venturi-packed-"));
    const packed = run(process.execPath, ["scripts/pack.mjs", home, join(home, "packages")], root);
    expect(packed.exit, packed.text).to.equal(0);
    const own = join(home, "node_modules/venturi");
    mkdirSync(own, { recursive: true });
    const tarball = packed.text.split("\n").find((line) => /venturi-\d/.test(line)) ?? "";
    const unpacked = run("tar", ["-xzf", tarball, "--strip-components=1", "-C", own], home);
    expect(unpacked.exit, unpacked.text).to.equal(0);
    const description = JSON.parse(readFileSync(join(own, "package.json"), "utf8"));
    for (const name of [
      ...Object.keys(description.dependencies),
      "fastify",
      "typescript",
      "mocha",
      "@types/node",
      "@types/mocha",
    ]) {
      mkdirSync(dirname(join(home, "node_modules", name)), { recursive: true });
      symlinkSync(join(root, "node_modules", name), join(home, "node_modules", name));
    }
    bin = join(own, "dist/src/cli/bin.js");
  });
  after(() => rmSync(home, { recursive: true, force: true }));

  it("holds what is needed and nothing of the tests", () => {
    const own = join(home, "node_modules/venturi");
    for (const file of [
      "config/venturi.yaml",
      "config/venturi.schema.json",
      "dist/plugins/clock/index.js",
      "dist/plugins/channel-console/assets/index.html",
      "dist/src/plugin.d.ts",
      "dist/bundle/src.cli.main.js",
    ]) {
      expect(existsSync(join(own, file)), file).to.equal(true);
    }
    for (const file of ["dist/test", "dist/plugins/channel-console/web", "src", "test"])
      expect(existsSync(join(own, file)), file).to.equal(false);
  });

  it("depends on what the bundle leaves outside, and on nothing else", () => {
    const { dependencies } = JSON.parse(readFileSync(join(home, "node_modules/venturi/package.json"), "utf8"));
    expect(Object.keys(dependencies)).to.deep.equal(["reflect-metadata", "tsyringe", "zod"]);
  });

  it("leaves plugins with heavy dependencies to packages of their own, and says which", () => {
    for (const [name, options] of [
      ["nats", "servers: [a]"],
      ["postgres", "url: 'postgres://a/b'"],
    ]) {
      writeFileSync(join(home, "heavy.yaml"), `journal: { type: ${name}, ${options} }\n`);
      const { exit, text } = node([bin, "validate", "--config", "heavy.yaml"], home);
      expect(exit, text).to.equal(78);
      expect(text).to.include(`plugin ${name}: it is a separate package; run \`npm install @venturi/${name}\``);
    }
  });

  for (const kind of ["provider", "tool", "channel", "journal", "memory"]) {
    it(`a new ${kind} builds and passes its test as it stands`, () => {
      const folder = join(home, `my-${kind}`);
      const written = node([bin, "plugin", "new", `my-${kind}`, "--kind", kind, "--folder", folder], home);
      expect(written.exit, written.text).to.equal(0);
      const built = node([join(home, "node_modules/typescript/bin/tsc")], folder);
      expect(built.exit, built.text).to.equal(0);
      const tested = node(
        [join(home, "node_modules/mocha/bin/mocha.js"), "--timeout", "60000", "dist/**/*.test.js"],
        folder,
      );
      expect(tested.exit, tested.text).to.equal(0);
      expect(tested.text)
        .to.match(/[1-9]\d* passing/)
        .and.not.match(/failing|pending/);
    });
  }

  it("is loaded from its folder, and its options are part of the schema", () => {
    const config = `plugins: [./my-tool, ./my-provider, ./my-channel, ./my-journal]
providers: { mine: { type: my-provider } }
tools: { count: { type: my-tool, langage: en } }
channels: { mine: { type: my-channel } }
journal: { type: my-journal }
agents: { one: { model: mine/any, tools: [count] } }
`;
    writeFileSync(join(home, "venturi.yaml"), config);
    const wrong = node([bin, "validate", "--config", "venturi.yaml"], home);
    expect(wrong.text).to.equal('venturi.yaml:3:34 tools.count.langage: unknown key (did you mean "language"?)\n');
    expect(wrong.exit).to.equal(78);
    writeFileSync(join(home, "venturi.yaml"), config.replace("langage", "language"));
    const right = node([bin, "plugins", "--config", "venturi.yaml"], home);
    expect(right.exit, right.text).to.equal(0);
    expect(right.text).to.match(/^my-tool +tool +\S+my-tool +0\.1\.0 +tools\.count$/m);
  });

  describe("and the program's bundle", () => {
    const where = (words: readonly string[] = [], env: Record<string, string> = {}): string => {
      const all = [...words, bin, "validate", "--config", "where.yaml"];
      const { status, stdout, stderr } = spawnSync(process.execPath, all, {
        cwd: home,
        encoding: "utf8",
        env: { ...process.env, NODE_OPTIONS: "", NODE_V8_COVERAGE: undefined, ...env },
      });
      expect(status, stderr).to.equal(0);
      return /^core: .*venturi\/(dist\/\S+)$/m.exec(stdout)?.[1] ?? stdout;
    };
    const stamp = () => join(home, "node_modules/venturi/dist/.tsbuildinfo");

    before(() => {
      const plugin = `import { definePlugin } from "venturi/plugin";
import { z } from "zod";
console.log("core: " + import.meta.resolve("venturi/plugin"));
export default definePlugin({ name: "where", kind: "tool", options: z.strictObject({}), create: () => ({ tools: [] }) });
`;
      writeFileSync(join(home, "where.mjs"), plugin);
      const config =
        "plugins: [./where.mjs]\nproviders: { one: { type: simulator } }\nagents: { a: { model: one/any } }\n";
      writeFileSync(join(home, "where.yaml"), config);
    });
    afterEach(() => rmSync(stamp(), { force: true }));

    it("share one core", () => expect(where()).to.equal("dist/bundle/program.src.doors.plugin.js"));

    it("which names the licenses of what is in it", () => {
      const text = readFileSync(join(home, "node_modules/venturi/dist/bundle/LICENSES.txt"), "utf8");
      for (const name of ["fastify", "zod", "yaml", "@opentelemetry/api"])
        expect(text).to.match(new RegExp(`^${name} \\d`, "m"));
      expect(text).to.include("MIT License").and.to.include("Apache License");
    });

    it("do without it where something is preloaded, which may patch packages by name", () => {
      expect(where(["--import", "data:text/javascript,"])).to.equal("dist/src/doors/plugin.js");
      expect(where([], { NODE_OPTIONS: "--require=node:path" })).to.equal("dist/src/doors/plugin.js");
    });

    it("do without it where coverage is measured or sources are wanted", () => {
      expect(where(["--enable-source-maps"])).to.equal("dist/src/doors/plugin.js");
      expect(where(["--inspect=127.0.0.1:0"])).to.equal("dist/src/doors/plugin.js");
      expect(where([], { NODE_V8_COVERAGE: join(home, "coverage") })).to.equal("dist/src/doors/plugin.js");
    });

    it("do without it when it is older than what was compiled", () => {
      writeFileSync(stamp(), "");
      expect(where()).to.equal("dist/src/doors/plugin.js");
    });
  });

  it("is not written over something else", () => {
    const again = node([bin, "plugin", "new", "my-tool", "--kind", "tool"], home);
    expect(again.exit).to.equal(1);
    expect(again.text).to.match(/already exists and is not empty/);
    expect(node([bin, "plugin", "new", "My Tool", "--kind", "tool"], home).exit).to.equal(2);
    expect(node([bin, "plugin", "new", "mine", "--kind", "tol"], home).exit).to.equal(2);
  });
});
