import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => readFileSync(fileURLToPath(new URL(path, root)), "utf8");

const rows = read("docs/requirements.md")
  .split("\n")
  .flatMap((line) => {
    const [, number, requirement = "", shown = ""] = /^\| (\d+) +\| (.*?) \| (.*?) \|$/.exec(line) ?? [];
    const tests = [...shown.matchAll(/`([^`]+)` “([^”]+)”/g)].map(([, file = "", name = ""]) => ({ file, name }));
    return number === undefined ? [] : [{ number: Number(number), requirement: requirement.trim(), tests }];
  });

/** The names of tests in a file; what a template fills in is `…`. */
function namesIn(file: string): Set<string> {
  const text = read(file).replace(/\$\{[^}]*\}/g, "…");
  const quoted = /(?:\bit\(|\bname:)\s*(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`|'((?:[^'\\]|\\.)*)')/g;
  return new Set([...text.matchAll(quoted)].map(([, double, template, single]) => double ?? template ?? single ?? ""));
}

describe("docs/requirements.md", () => {
  it("has every requirement in order, each with a test", () => {
    expect(rows.map(({ number }) => number)).to.deep.equal(Array.from({ length: 49 }, (_, index) => index + 1));
    for (const { number, requirement, tests } of rows) {
      expect(requirement, `${number}`).not.to.equal("");
      expect(tests, `${number}`).not.to.deep.equal([]);
    }
  });

  for (const { number, tests } of rows) {
    it(`names tests that exist for requirement ${number}`, () => {
      for (const { file, name } of tests) expect(namesIn(file), file).to.include(name);
    });
  }
});
