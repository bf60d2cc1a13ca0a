// Prepares a release, as a commit and a tag to be pushed.
//   npm run release            the next minor version; `npm run release -- 0.2.1` for another
//   npm run release:check      only packs, checks the package with publint and attw, installs the tarball into an empty folder
//                              and runs `npx venturi run` from there, as its first user will
import { spawnSync } from "node:child_process";
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const isCheck = process.argv.includes("--check");
const home = mkdtempSync(join(tmpdir(), "venturi-release-"));

try {
  if (isCheck) check(current());
  else release(process.argv[2] ?? nextMinor(current()));
} finally {
  rmSync(home, { recursive: true, force: true });
}

function release(version) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) fail(`${version} is not a version such as 0.2.0`);
  if (step("tree", "git", ["status", "--porcelain"], ".") !== "") fail("the tree has changes; commit them first");
  if (step("tags", "git", ["tag", "--list", `v${version}`], ".") !== "") fail(`v${version} is there already`);
  writeVersion(version);
  step("generate", "npm", ["run", "generate"], ".");
  const tarball = check(version);
  copyFileSync(join(home, tarball), tarball);
  const parts = step(
    "sbom",
    "npm",
    ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"],
    ".",
  );
  writeFileSync("venturi.cdx.json", parts);
  step("commit", "git", ["commit", "--all", "--message", `release: ${version}`], ".");
  step(
    "tag",
    "git",
    ["tag", "--annotate", `v${version}`, "--message", `Venturi ${version}\n\n${notesOf(version)}`],
    ".",
  );
  process.stdout.write(`${tarball} and venturi.cdx.json are what would be published\n`);
  process.stdout.write(`now: git push origin HEAD v${version}; the release workflow publishes what the tag holds\n`);
}

/** The version, wherever it stands, and the changelog's [Unreleased] under it. */
function writeVersion(version) {
  step("version", "npm", ["version", "--no-git-tag-version", "--allow-same-version", version], ".");
  rewrite("deploy/helm/venturi/Chart.yaml", /^((?:appV|v)ersion: ).*$/gm, `$1${version}`);
  rewrite("clients/python/pyproject.toml", /^(version = ")[^"]*/m, `$1${version}`);
  rewrite("plugins/mcp/connection.ts", /(name: "venturi", version: ")[^"]*/, `$1${version}`);
  for (const file of globSync("examples/plugins/*/package.json"))
    rewrite(file, /("venturi": "\^)[^"]*/g, `$1${version}`);
  const today = new Date().toISOString().slice(0, 10);
  rewrite("CHANGELOG.md", /^## \[Unreleased\]\n/m, `## [Unreleased]\n\n## [${version}] - ${today}\n`);
}

function rewrite(file, pattern, replacement) {
  const text = readFileSync(file, "utf8");
  const changed = text.replace(pattern, replacement);
  if (changed === text && !text.includes(current())) fail(`${file} does not name the version where it is looked for`);
  writeFileSync(file, changed);
}

function notesOf(version) {
  const [, notes = ""] = readFileSync("CHANGELOG.md", "utf8").split(`## [${version}]`);
  // Of the tag's message git takes lines that begin with # for comments.
  return notes
    .split("\n## [")[0]
    .replace(/^.*\n/, "")
    .replaceAll(/^### (.*)$/gm, "$1:")
    .trim();
}

function current() {
  return JSON.parse(readFileSync("package.json", "utf8")).version;
}

function nextMinor(version) {
  const [major, minor] = version.split(".");
  return `${major}.${Number(minor) + 1}.0`;
}

function check(version) {
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
  return tarball;
}

function step(name, command, words, cwd) {
  const start = performance.now();
  const env = { ...process.env, ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" };
  const { status, stdout, stderr, error } = spawnSync(command, words, {
    cwd,
    env,
    encoding: "utf8",
    timeout: 600_000,
    maxBuffer: 64 * 1024 * 1024,
  });
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
