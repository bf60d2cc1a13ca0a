import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const folders = ["provider", "tool", "channel"];
const compilerOptions = {
  target: "es2024",
  module: "nodenext",
  rootDir: ".",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  rewriteRelativeImportExtensions: true,
  types: ["node", "mocha"],
};

describe("the example plugins, each outside of this repository", function () {
  this.timeout(180_000);
  let home = "";

  before(() => {
    home = mkdtempSync(join(tmpdir(), "venturi-examples-"));
    cpSync(join(root, "examples/plugins"), home, {
      recursive: true,
      filter: (path) => !/node_modules|\/dist/.test(path),
    });
    linkPackages(home);
    const options = { include: ["*/*.ts", "new/*/*.ts"], compilerOptions: { ...compilerOptions, outDir: "built" } };
    writeFileSync(join(home, "tsconfig.json"), JSON.stringify(options));
    const built = node(["node_modules/typescript/bin/tsc", "-p", "."], home);
    expect(built.exit, built.text).to.equal(0);
    for (const name of folders) cpSync(join(home, "built", name), join(home, name, "dist"), { recursive: true });
  });
  after(() => rmSync(home, { recursive: true, force: true }));

  for (const name of folders) {
    it(`the ${name} passes its tests`, () => {
      const tested = node([join(home, "node_modules/mocha/bin/mocha.js"), "dist/**/*.test.js"], join(home, name));
      expect(tested.exit, tested.text).to.equal(0);
      expect(tested.text).to.match(/[1-9]\d* passing/);
    });
  }

  it("are loaded by a configuration that names them", () => {
    const config = `plugins: [./provider, ./tool, ./channel]
providers: { mine: { type: lines, baseUrl: "http://127.0.0.1:8000" } }
tools: { shop: { type: query, database: ./shop.db } }
channels: { plain: { type: plain-text } }
journal: { type: memory }
agents: { one: { model: mine/any, tools: [shop] } }
`;
    writeFileSync(join(home, "venturi.yaml"), config);
    const listed = node([join(root, "dist/src/cli/bin.js"), "plugins", "--config", "venturi.yaml"], home);
    expect(listed.exit, listed.text).to.equal(0);
    for (const name of ["lines", "query", "plain-text"])
      expect(listed.text).to.match(new RegExp(`^${name} +\\w+ +\\S+ +0\\.1\\.0`, "m"));
  });
});

/** As `npm install` would leave it, without a registry. */
function linkPackages(folder: string): void {
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  for (const name of ["typescript", "mocha", "zod", "fastify"]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  for (const name of readdirSync(join(root, "node_modules/@types"))) {
    symlinkSync(join(root, "node_modules/@types", name), join(folder, "node_modules/@types", name));
  }
  symlinkSync(root, join(folder, "node_modules/venturi"));
}

function node(words: readonly string[], cwd: string): { exit: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd, encoding: "utf8", timeout: 300_000 });
  return { exit: status, text: `${stdout}${stderr}` };
}
