// Packs, checks the package with publint and attw, installs the tarball into an empty folder and runs `npx venturi run` from there, as its first user will.
//   npm run release:check    does just that
//   npm run release          also looks at the tree and the changelog, tags the version and says what to do next
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const isCheck = process.argv.includes("--check");
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const home = mkdtempSync(join(tmpdir(), "venturi-release-"));

try {
  if (!isCheck) checkTree();
  step("build", process.execPath, ["scripts/build.mjs"], ".");
  const packed = step("pack", "npm", ["pack", "--silent", "--pack-destination", home], ".");
  const tarball = packed.trim().split("\n").at(-1);
  step("publint", "npx", ["publint", "run", "--strict", join(home, tarball)], ".");
  step("types", "npx", ["attw", join(home, tarball), "--profile", "esm-only"], ".");
  step("install", "npm", ["install", "--silent", "--no-audit", "--no-fund", join(home, tarball)], home);
  expect("npx venturi --version", step("version", "npx", ["venturi", "--version"], home), version);
  expect("npx venturi run", step("run", "npx", ["venturi", "run", "assistant", "What is 17 * 23?"], home), "391");
  step("init", "npx", ["venturi", "init"], home);
  expect("npx venturi validate", step("validate", "npx", ["venturi", "validate"], home), "is valid");
  process.stdout.write(`${tarball} works from an empty folder\n`);
  if (!isCheck) {
    copyFileSync(join(home, tarball), tarball);
    step("tag", "git", ["tag", "--annotate", `v${version}`, "--message", `Venturi ${version}`], ".");
    process.stdout.write(`now: git push origin v${version}; the release workflow publishes what the tag holds\n`);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

function checkTree() {
  if (step("tree", "git", ["status", "--porcelain"], ".") !== "") fail("the tree has changes; commit them first");
  if (!readFileSync("CHANGELOG.md", "utf8").includes(`## [${version}]`)) {
    fail(`CHANGELOG.md has no [${version}]; move what is under [Unreleased] there`);
  }
}

function step(name, command, words, cwd) {
  const start = performance.now();
  const env = { ...process.env, ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" };
  const { status, stdout, stderr, error } = spawnSync(command, words, { cwd, env, encoding: "utf8", timeout: 300_000 });
  if (status !== 0)
    fail(`${name}: ${command} ${words.join(" ")} ended with ${status}\n${stdout}${stderr}${error ?? ""}`);
  process.stdout.write(`✔ ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)\n`);
  return stdout;
}

function expect(what, said, part) {
  if (!said.includes(part)) fail(`${what} should have said ${part}, and said:\n${said}`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
