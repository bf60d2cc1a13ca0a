// A copy of the checkout whose src/agent, src/journal and src/provider hold every mutant behind a switch: built once, not per mutant.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Instrumenter } from "@stryker-mutator/instrumenter";
import { isMessage } from "./messages.mjs";

export const folders = ["agent", "journal", "provider"];
const mutated = new RegExp(`^src/(${folders.join("|")})/.*\\.ts$`);

/** `version` changes with everything but the tests; `units` are the lines of each function, method and statement at the top of a file. */
export async function makeSandbox(root) {
  const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
  });
  const names = listed.stdout.split("\0").filter((name) => name && existsSync(name));
  const sources = new Map(names.filter((name) => mutated.test(name)).map((name) => [name, readFileSync(name, "utf8")]));
  const units = new Map();
  const { files, mutants } = await new Instrumenter(silent).instrument(
    [...sources].map(([name, content]) => ({ name, mutate: true, content })),
    {
      plugins: ["decorators-legacy", "typescript"],
      excludedMutations: [],
      ignorers: [{ shouldIgnore: (path) => noteUnit(path, units) ?? isMessage(path) }],
    },
  );
  build(root, { names, files });
  const usable = mutants.filter(({ status }) => status !== "Ignored").map((mutant) => describe(mutant, sources));
  const sourceFiles = names.filter((name) =>
    /^(src|plugins)\/.*\.ts$|^scripts\/mutate\/(sandbox|worker|messages)|lock.json$/.test(name),
  );
  const version = hash(...sourceFiles.map((name) => name + readFileSync(name, "utf8")));
  return { mutants: usable, ignored: mutants.length - usable.length, sources, units, version };
}

function build(root, { names, files }) {
  const content = names.filter((name) => /\.(ts|mjs|json|js|tsx|css)$/.test(name));
  const stamp = hash(...content.map((name) => name + readFileSync(name, "utf8")));
  const stampFile = join(root, "..", "stamp");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  rmSync(root, { recursive: true, force: true });
  for (const name of names.filter((name) => !mutated.test(name))) {
    mkdirSync(join(root, dirname(name)), { recursive: true });
    cpSync(name, join(root, name), { verbatimSymlinks: true, force: true });
  }
  symlinkSync(resolve("node_modules"), join(root, "node_modules"));
  for (const { name, content } of files) {
    mkdirSync(join(root, dirname(name)), { recursive: true });
    // Counting hits slows the tests down; it is switched off once it is known which tests reach what.
    writeFileSync(
      join(root, name),
      content.replace("function cover() {", "function cover() {\n    if (ns.coverageOff) return;"),
    );
  }
  const built = spawnSync(process.execPath, ["scripts/build.mjs", "--unchecked"], { cwd: root, stdio: "inherit" });
  if (built.status !== 0) throw new Error(`the mutated sources in ${root} do not compile`);
  writeFileSync(stampFile, stamp);
}

function noteUnit(path, units) {
  if (!path.parentPath?.isProgram() && !path.parentPath?.isClassBody()) return;
  const file = path.hub.file.opts.filename;
  if (!units.has(file)) units.set(file, []);
  const { start, end } = path.node.loc;
  units.get(file).push({ first: start.line, last: end.line });
}

function describe({ id, fileName: file, mutatorName: mutator, location, replacement }, sources) {
  const lines = sources.get(file).split("\n");
  const { start, end } = location;
  const original = textAt(lines, location);
  // Found again while its line and what stands around it are the same, wherever they have moved to.
  const around = lines.slice(Math.max(0, start.line - 2), end.line + 3).join("\n");
  const key = hash(file, mutator, around, original, replacement, String(start.column));
  return {
    id,
    key,
    file,
    folder: mutated.exec(file)[1],
    line: start.line + 1,
    location,
    mutator,
    original,
    replacement,
  };
}

function textAt(lines, { start, end }) {
  if (start.line === end.line) return lines[start.line].slice(start.column, end.column);
  const between = lines.slice(start.line + 1, end.line);
  return [lines[start.line].slice(start.column), ...between, lines[end.line].slice(0, end.column)].join("\n");
}

export const hash = (...parts) => createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 24);

const nothing = () => {};
const silent = { isDebugEnabled: () => false, debug: nothing, info: nothing, warn: nothing, error: nothing };
