import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { scopes } from "../../src/core/ports/scopes.ts";
import { root, textOf } from "./pages.ts";

describe("docs/security.md", () => {
  const rows = textOf("docs/security.md")
    .split("\n")
    .filter((line) => line.startsWith("| ASI"));

  it("has a row for each of OWASP's ten, each with tests that are there", () => {
    expect(rows.map((row) => /ASI\d\d/.exec(row)?.[0])).to.deep.equal(
      Array.from({ length: 10 }, (_, index) => `ASI${String(index + 1).padStart(2, "0")}`),
    );
    for (const row of rows) {
      const tests = row.match(/`test\/[^`]+\.test\.ts`/g) ?? [];
      expect(tests.length, row.slice(0, 40)).to.be.greaterThan(0);
      for (const test of tests) expect(existsSync(join(root, test.slice(1, -1))), test).to.equal(true);
    }
  });

  it("tells every scope", () => {
    for (const scope of scopes) expect(textOf("docs/security.md")).to.include(`| \`${scope}\``);
  });
});
