import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const source = readFileSync(join(root, "test/library/types/inference.ts"), "utf8");

/** Lines with a type error, by tsc. In a folder of the project, so that packages are found. */
function errorsIn(text: string): number[] {
  const folder = join(root, "dist/types-test");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "inference.ts"), text.replaceAll("../../../src/", "../../src/"));
  const compilerOptions = {
    target: "es2024",
    module: "nodenext",
    lib: ["es2024", "esnext.disposable", "dom", "dom.asynciterable"],
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    experimentalDecorators: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["inference.ts"] }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { cwd: root, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  return [...stdout.matchAll(/inference\.ts\((\d+),\d+\): error/g)].map(([, line]) => Number(line));
}

describe("types of the library", function () {
  this.timeout(60_000);

  it("are inferred as the program says, from zod, valibot, arktype and JSON Schema", () => {
    expect(source.match(/\bsame</g)?.length).to.be.greaterThan(30);
    expect(errorsIn(source)).to.deep.equal([]);
  });

  it("refuse every mistake in it", () => {
    const lines = source.split("\n");
    const expected = lines.flatMap((line, index) => (line.includes("@ts-expect-error") ? [index] : []));
    expect(expected.length).to.be.greaterThan(18);
    const bare = lines.map((line) => line.replace("@ts-expect-error", "")).join("\n");
    expect([...new Set(errorsIn(bare))]).to.have.length(expected.length);
  });
});
