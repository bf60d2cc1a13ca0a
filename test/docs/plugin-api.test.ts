import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "./pages.ts";

describe("docs/plugin-api.md", () => {
  const page = readFileSync(join(root, "docs/plugin-api.md"), "utf8");
  const named = (face: string): string[] => {
    const [, section = ""] = page.split(`## \`${face}\`\n`);
    const [table = ""] = section.split("\n## ");
    return [...table.matchAll(/^\| `(\w+)` +\| \S/gm)].map(([, name = ""]) => name).sort();
  };
  const exported = async (face: string): Promise<string[]> => Object.keys((await import(face)) as object).sort(); // a module

  for (const face of ["venturi/plugin", "venturi/plugin/provider", "venturi/plugin/channel"]) {
    it(`says what each name of ${face} is for`, async () => {
      expect(named(face)).to.deep.equal(await exported(face));
    });
  }

  it("has at most 60 names, none of them in two places", async () => {
    const all = (
      await Promise.all(["", "/provider", "/channel"].map((part) => exported(`venturi/plugin${part}`)))
    ).flat();
    expect(all).to.have.length.at.most(60);
    expect(new Set(all).size).to.equal(all.length);
  });
});
