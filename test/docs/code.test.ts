import { writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { hasUsing } from "../has-using.ts";
import { isSlow } from "../sweep.ts";
import { type Checkout, sharedCheckout } from "./checkout.ts";
import { type Block, blocksOf, isRun, nameOf, pages, placeOf } from "./pages.ts";
import type { Played } from "./together.ts";

const all = pages().flatMap(blocksOf);
const code = all.filter((each) => ["ts", "tsx", "js"].includes(each.language) && isRun(each));
const checked = code.filter((each) => !each.tag.startsWith("parsed"));
const together = fileURLToPath(new URL("together.js", import.meta.url));
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
      exactOptionalPropertyTypes: true,
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

  const programs = checked.filter(({ tag, text }) => /^run\b/.test(tag) && (hasUsing || !/\bawait using\b/.test(text)));
  if (isSlow) {
    for (const block of programs)
      it(`${nameOf(block)} runs, says something and ends`, async () => {
        const file = join("pages", fileOf(block));
        const words = ["--no-warnings", basename(file)];
        const { exit, out, err } = await checkout.run(process.execPath, words, dirname(file));
        expect(exit, `${out}\n${err}`).to.equal(0);
        expect(out.trim()).not.to.equal("");
      });
    return;
  }
  let played: readonly Played[] = [];
  it("runs, all of it in one process", async () => {
    const files = programs.map((block) => join(checkout.folder, "pages", fileOf(block)));
    const { out, err } = await checkout.run(process.execPath, ["--no-warnings", together, ...files]);
    expect(out, err).to.match(/^\[/);
    played = JSON.parse(out) as Played[]; // as together.ts writes it
  });
  for (const block of programs)
    it(`${nameOf(block)} says something`, () => {
      const { out, error } = played.find(({ file }) => file.endsWith(`/${fileOf(block)}`)) ?? {};
      expect(error).to.equal(undefined);
      expect(out?.trim()).to.be.a("string").and.not.equal("");
    });
});
