import { readFileSync } from "node:fs";
import { expect } from "chai";
import { causes } from "../../src/serve/why/causes.ts";
import { planted } from "./planted.ts";

describe("docs/why.md", () => {
  it("lists every cause with its meaning", () => {
    const page = readFileSync("docs/why.md", "utf8");
    const listed = [...page.matchAll(/^\| `([a-z_]+)` +\| (.+?) +\|$/gm)];
    const found = Object.fromEntries(listed.map(([, name = "", meaning = ""]) => [name, meaning]));
    for (const [name, { means }] of Object.entries(causes)) expect(found[name], name).to.equal(means);
  });

  it("at least twenty problems are planted, each cause's name a known one", () => {
    expect(planted.length).to.be.at.least(20);
    for (const { cause } of planted) expect(causes).to.have.property(cause);
  });
});
