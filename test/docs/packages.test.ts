import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "./pages.ts";

describe("docs/packages.md", () => {
  const read = (file: string): string => readFileSync(join(root, file), "utf8");

  it("has a row for every dependency of Venturi and of its plugins' packages; npm run weight -- --write adds it", () => {
    const { dependencies, workspaces } = JSON.parse(read("package.json"));
    const ofPlugins = workspaces.map((folder: string) => JSON.parse(read(`${folder}/package.json`)).dependencies);
    const all = Object.keys(Object.assign({}, dependencies, ...ofPlugins)).sort();
    const [, table = ""] = read("docs/packages.md").split("<!-- npm run weight -->");
    expect([...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name)).to.deep.equal(all);
  });

  it("and npm run weight a reason for each", () => {
    const { dependencies } = JSON.parse(read("package.json"));
    const script = read("scripts/weight.mjs");
    for (const name of Object.keys(dependencies)) expect(script).to.match(new RegExp(`^  "?${name}"?: "`, "m"));
  });
});
