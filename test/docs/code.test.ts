import { writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { basename, dirname, join } from "node:path";
import { expect } from "chai";
import { hasUsing } from "../has-using.ts";
import { type Checkout, sharedCheckout } from "./checkout.ts";
import { type Block, blocksOf, isRun, nameOf, pages, placeOf } from "./pages.ts";

const all = pages().flatMap(blocksOf);
const code = all.filter((each) => ["ts", "tsx", "js"].includes(each.language) && isRun(each));
const checked = code.filter((each) => !each.tag.startsWith("parsed"));
const fileOf = (block: Block): string =>
  placeOf(block) ?? `${block.page.replaceAll(/[/.]/g, "-")}-${block.line}.${block.language}`;

describe("code in the pages", function () {
  this.timeout(180_000);
  let checkout: Checkout;
  before(async () => {
    checkout = await sharedCheckout();
    checkout.place(all.filter((each) => each.language === "yaml"));
    checkout.place(checked, fileOf);
  });

  it("has the types it says", async () => {
    const compilerOptions = {
      target: "es2024",
      module: "nodenext",
      lib: ["es2024", "esnext.disposable", "dom", "dom.asynciterable"],
      moduleDetection: "force",
      strict: true,
      jsx: "react-jsx",
      noEmit: true,
      skipLibCheck: true,
      allowJs: true,
      allowImportingTsExtensions: true,
      types: ["node", "mocha"],
    };
    writeFileSync(join(checkout.folder, "pages/tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*"] }));
    const { exit, out } = await checkout.run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "pages"]);
    expect(exit, out).to.equal(0);
  });

  for (const block of code.filter((each) => each.tag.startsWith("parsed"))) {
    it(`${nameOf(block)} can be read`, () => {
      expect(() => stripTypeScriptTypes(block.text)).not.to.throw();
    });
  }

  for (const block of checked.filter((each) => /^run\b/.test(each.tag))) {
    it(`${nameOf(block)} runs and says something`, async function () {
      if (!hasUsing && /\bawait using\b/.test(block.text)) return this.skip();
      const file = join("pages", fileOf(block));
      const { exit, out, err } = await checkout.run(process.execPath, ["--no-warnings", basename(file)], dirname(file));
      expect(exit, `${out}\n${err}`).to.equal(0);
      expect(out.trim()).not.to.equal("");
    });
  }
});
