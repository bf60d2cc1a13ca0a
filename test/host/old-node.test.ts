import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect } from "chai";
import { testFolder } from "./folder.ts";

const library = new URL("../../src/index.js", import.meta.url).href;
const bin = new URL("../../src/cli/bin.js", import.meta.url).pathname;
const message = /venturi needs Node \^\d+\.\d+ or >=\d+, and this is 20\.\d+\.\d+\./;

/** A Node 20 of the machine, if it has one: only a real one shows what it cannot load. */
const old = (process.env.PATH ?? "")
  .split(delimiter)
  .concat("/usr/bin", "/usr/local/bin")
  .map((folder) => join(folder, "node"))
  .find((file) => existsSync(file) && spawnSync(file, ["--version"], { encoding: "utf8" }).stdout?.startsWith("v20."));

describe("on a Node that is too old", () => {
  const folder = testFolder();
  const pretend = `Object.defineProperty(process.versions, "node", { value: "20.19.0" });`;

  it("the library and the command say which one they need, and nothing else", () => {
    const file = folder.write({ "old.mjs": pretend, "main.mjs": `import ${JSON.stringify(library)};` });
    const told = spawnSync(process.execPath, ["--import", file, folder.path("main.mjs")], { encoding: "utf8" });
    expect(told.stderr)
      .to.match(message)
      .and.not.match(/SyntaxError/);
    expect(told.status).to.equal(1);
    const command = spawnSync(process.execPath, ["--import", file, bin, "version"], { encoding: "utf8" });
    expect(command.stderr)
      .to.match(message)
      .and.not.match(/at file:/);
    expect(command.status).to.not.equal(0);
  });

  it(`so they do on a real one (${old === undefined ? "there is no Node 20 here" : "Node 20 is here"})`, function () {
    if (old === undefined) return this.skip();
    const main = folder.write({ "main.mjs": `import ${JSON.stringify(library)};` });
    for (const words of [[main], [bin, "version"]]) {
      const told = spawnSync(old, words, { encoding: "utf8" });
      expect(told.stderr)
        .to.match(message)
        .and.not.match(/SyntaxError/);
      expect(told.status).to.not.equal(0);
    }
  });
});
