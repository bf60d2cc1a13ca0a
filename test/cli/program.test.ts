import { spawnSync } from "node:child_process";
import {
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const bin = join(root, "dist/src/cli/bin.js");
const day = 24 * 3_600;
const isRoot = process.getuid?.() === 0;

describe("the compiled code of the program", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "venturi-code-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function venturi(words: readonly string[], more: NodeJS.ProcessEnv = {}): { exit: number | null; text: string } {
    const env = { ...process.env, NODE_COMPILE_CACHE: folder, NODE_V8_COVERAGE: undefined, NODE_OPTIONS: "", ...more };
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], {
      cwd: root,
      env,
      encoding: "utf8",
    });
    return { exit: status, text: stdout + stderr };
  }

  /** Files of compiled code, without Node's own. */
  const kept = (): string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.includes("program-"))
      .map((name) => join(folder, name));

  function validate(): string {
    const { exit, text } = venturi(["validate"]);
    expect(exit, text).to.equal(0);
    const [file = "", ...others] = kept();
    expect(others).to.deep.equal([]);
    return file;
  }

  it("is kept by the first call of a command, used by the next, and not written again", () => {
    const file = validate();
    expect(file).to.match(/program-\w+\.cjs-validate$/);
    expect(statSync(file).mode & 0o022, "writable by others").to.equal(0);
    const { ino } = statSync(file);
    expect(statSync(validate()).ino).to.equal(ino);
  });

  it("is kept apart for other options of Node's, with which it could not be used", () => {
    const file = validate();
    expect(venturi(["validate"], { NODE_OPTIONS: "--max-semi-space-size=16" }).exit).to.equal(0);
    expect(kept().sort()).to.deep.equal([file, `${file}--max-semi-space-size=16`]);
  });

  it("is renewed after a day, when it may have become something else that is needed", () => {
    const file = validate();
    const { ino } = statSync(file);
    const then = Date.now() / 1000 - day - 60;
    utimesSync(file, then, then);
    validate();
    expect(statSync(file).ino).to.not.equal(ino);
  });

  for (const [what, change] of [
    ["is empty", () => Buffer.alloc(0)],
    ["was cut", (code: Buffer) => code.subarray(0, code.length / 2)],
    ["is of another V8", (code: Buffer) => Buffer.concat([Buffer.from("another!"), code.subarray(8)])],
  ] as const) {
    it(`is not used but written again where it ${what}`, () => {
      const file = validate();
      writeFileSync(file, change(readFileSync(file)));
      const { ino } = statSync(file);
      expect(statSync(validate()).ino).to.not.equal(ino);
    });
  }

  it(`is not used where another user wrote it (${isRoot ? "root can try it" : "only root can try it"})`, function () {
    if (!isRoot) return this.skip();
    const file = validate();
    chownSync(file, 12_345, 12_345);
    const { ino } = statSync(file);
    expect(statSync(validate()).ino).to.not.equal(ino);
  });

  it("is not kept of a command that failed, or that only showed its help", () => {
    expect(venturi(["validate", "--config", "missing.yaml"]).exit).to.not.equal(0);
    expect(venturi(["validate", "--help"]).exit).to.equal(0);
    expect(kept()).to.deep.equal([]);
  });

  it("is not kept where Node keeps none, or cannot be written", () => {
    expect(venturi(["validate"], { NODE_DISABLE_COMPILE_CACHE: "1" }).exit).to.equal(0);
    expect(kept()).to.deep.equal([]);
    const file = join(folder, "file");
    writeFileSync(file, "");
    expect(venturi(["validate"], { NODE_COMPILE_CACHE: file }).exit).to.equal(0);
  });
});
