import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { Checkout } from "./checkout.ts";
import { type Block, blocksOf, isRun, nameOf, pages } from "./pages.ts";

const blocks = pages()
  .flatMap(blocksOf)
  .filter((each) => ["ts", "js"].includes(each.language) && isRun(each));
/** Where the block says it belongs (`as PATH`), so that blocks can import each other. */
const fileOf = (block: Block): string =>
  /^as (\S+)$/.exec(block.tag)?.[1] ?? `${block.page.replaceAll(/[/.]/g, "-")}-${block.line}.${block.language}`;

describe("code in the pages", function () {
  this.timeout(60_000);
  let checkout: Checkout;
  before(async () => {
    checkout = await Checkout.open();
    for (const block of blocks) {
      const file = join(checkout.folder, "pages", fileOf(block));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${checkout.here(block.text)}\nexport {};\n`);
    }
  });
  after(() => checkout.close());

  it("has the types it says", async () => {
    const compilerOptions = {
      target: "es2024",
      module: "nodenext",
      lib: ["es2024", "esnext.disposable", "dom", "dom.asynciterable"],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowJs: true,
      allowImportingTsExtensions: true,
      preserveSymlinks: false,
      types: ["node", "mocha"],
    };
    writeFileSync(join(checkout.folder, "pages/tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*"] }));
    const { exit, out } = await checkout.run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "pages"]);
    expect(exit, out).to.equal(0);
  });

  for (const block of blocks.filter((each) => each.tag === "run")) {
    it(`${nameOf(block)} runs`, async () => {
      const { exit, out, err } = await checkout.run(process.execPath, ["--no-warnings", join("pages", fileOf(block))]);
      expect(exit, `${out}\n${err}`).to.equal(0);
    });
  }
});
