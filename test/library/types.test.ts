import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const source = readFileSync(join(root, "test/library/types/inference.ts"), "utf8");

/** The program as it is, and without its `@ts-expect-error` comments. */
const programs = { "as-written.ts": source, "bare.ts": source.replaceAll("@ts-expect-error", "") };

/**
 * Lines with a type error, by tsc, of each program. In a folder of the project, so that packages are found; against the declarations
 * that were built, as in a project that uses them: from the sources it takes 9 s of CPU instead of 1.
 */
function errorLines(): Record<keyof typeof programs, number[]> {
  const folder = join(root, "dist/types-test");
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(folder, name), text.replaceAll('"../../../src/', '"../src/').replaceAll('.ts";', '.js";'));
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
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: Object.keys(programs) }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { cwd: root, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  const linesIn = (name: string) => [
    ...new Set(
      [...stdout.matchAll(/([\w-]+\.ts)\((\d+),\d+\): error/g)].flatMap(([, file, line]) =>
        file === name ? [Number(line)] : [],
      ),
    ),
  ];
  return { "as-written.ts": linesIn("as-written.ts"), "bare.ts": linesIn("bare.ts") };
}

describe("types of the library", function () {
  this.timeout(180_000);

  let errors: ReturnType<typeof errorLines>;
  before(() => {
    errors = errorLines();
  });

  it("are inferred as the program says, from zod, valibot, arktype and JSON Schema", () => {
    expect(source.match(/\bsame</g)?.length).to.be.greaterThan(30);
    expect(errors["as-written.ts"]).to.deep.equal([]);
  });

  it("refuse every mistake in it", () => {
    const mistakes = source.match(/@ts-expect-error/g)?.length ?? 0;
    expect(mistakes).to.be.greaterThan(18);
    expect(errors["bare.ts"]).to.have.length(mistakes);
  });
});
