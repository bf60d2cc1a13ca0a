// Prepares a release, as a commit and a tag to be pushed.
//   npm run release            the next minor version; `npm run release -- 0.2.1` for another
//   npm run release:check      only packs, checks the packages with publint and attw, and installs them with npm, pnpm and yarn into
//                              empty folders, where everything is tried as its first user will
import { spawnSync } from "node:child_process";
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const isCheck = process.argv.includes("--check");
const home = mkdtempSync(join(tmpdir(), "venturi-release-"));

try {
  if (isCheck) await check(current());
  else await release(process.argv[2] ?? nextMinor(current()));
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function release(version) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) fail(`${version} is not a version such as 0.2.0`);
  if (step("tree", "git", ["status", "--porcelain"], ".") !== "") fail("the tree has changes; commit them first");
  if (step("tags", "git", ["tag", "--list", `v${version}`], ".") !== "") fail(`v${version} is there already`);
  writeVersion(version);
  step("generate", "npm", ["run", "generate"], ".");
  const tarballs = await check(version);
  for (const tarball of tarballs) copyFileSync(tarball, basename(tarball));
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
  process.stdout.write(
    `${tarballs.map((each) => basename(each)).join(", ")} and venturi.cdx.json are what would be published\n`,
  );
  process.stdout.write(`now: git push origin HEAD v${version}; the release workflow publishes what the tag holds\n`);
}

/** The version, wherever it stands, and the changelog's [Unreleased] under it. */
function writeVersion(version) {
  step("version", "npm", ["version", "--no-git-tag-version", "--allow-same-version", version], ".");
  rewrite("deploy/helm/venturi/Chart.yaml", /^((?:appV|v)ersion: ).*$/gm, `$1${version}`);
  rewrite("clients/python/pyproject.toml", /^(version = ")[^"]*/m, `$1${version}`);
  rewrite("plugins/mcp/connection.ts", /(name: "venturi", version: ")[^"]*/, `$1${version}`);
  for (const file of globSync("plugins/*/package.json")) rewrite(file, /("version": ")[^"]*/, `$1${version}`);
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

async function check(version) {
  step("build", process.execPath, ["scripts/build.mjs"], ".");
  const { makePackages, packAll } = await import("./pack.mjs");
  const tarballs = packAll(await makePackages(), home);
  for (const tarball of tarballs) {
    if (!tarball.includes(version)) fail(`${tarball} is not of version ${version}`);
    step(`publint ${basename(tarball)}`, "npx", ["publint", "run", "--strict", tarball], ".");
  }
  step("types", "npx", ["attw", tarballs[0], "--profile", "esm-only", "--exclude-entrypoints", "internal"], ".");
  const { checkPackages } = await import("./release-check.mjs");
  await checkPackages(tarballs, home);
  return tarballs;
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

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
