import { readFileSync } from "node:fs";
import { expect } from "chai";
import { writePlugin } from "../../src/cli/plugin-new.ts";
import { testFolder } from "../host/folder.ts";

describe("venturi plugin new", () => {
  const folder = testFolder();

  for (const kind of ["provider", "tool", "channel", "journal", "guard", "memory"] as const) {
    it(`writes a package for a ${kind} with its test and its README`, () => {
      const files = writePlugin("weather", kind, folder.path("weather"));
      expect(files).to.include.members(["package.json", "tsconfig.json", "README.md", "index.ts", "index.test.ts"]);
      const text = readFileSync(folder.path("weather/index.ts"), "utf8");
      expect(text).to.include('name: "weather"').and.include(`kind: "${kind}"`);
      const test = readFileSync(folder.path("weather/index.test.ts"), "utf8");
      expect(`${text}${test}`).to.not.include("my-plugin");
      const { name, peerDependencies, devDependencies } = JSON.parse(
        readFileSync(folder.path("weather/package.json"), "utf8"),
      );
      // What is tested here is a checkout, which no registry has.
      expect(devDependencies.venturi).to.match(/^file:\/.+\/$/);
      expect(name).to.equal(`venturi-${kind}-weather`);
      expect(peerDependencies.venturi).to.match(/^\^\d+\.\d+\.\d+$/);
    });
  }

  it("refuses a name that is none, and a folder with something in it", () => {
    expect(() => writePlugin("My Plugin", "tool", folder.path("x"))).to.throw(/not a valid plugin name/);
    folder.write({ "y/kept.txt": "" });
    expect(() => writePlugin("mine", "tool", folder.path("y"))).to.throw(/not empty/);
  });
});
