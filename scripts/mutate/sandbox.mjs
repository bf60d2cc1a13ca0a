// A copy of the checkout whose rooms hold every mutant behind a switch: built once, not per mutant.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Instrumenter } from "@stryker-mutator/instrumenter";
import { noteEquivalent, placeOf } from "./equivalent.mjs";
import { isMessage } from "./messages.mjs";
import { roomOf } from "./rooms.mjs";

const isMutated = (name) => roomOf(name) !== undefined && name.endsWith(".ts");

/** `version` changes with everything but the tests; `units` are the lines of each function, method and statement at the top of a file. */
export async function makeSandbox(root) {
  const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
  });
  const names = listed.stdout.split("\0").filter((name) => name && existsSync(name));
  const sources = new Map(names.filter(isMutated).map((name) => [name, readFileSync(name, "utf8")]));
  const { files, mutants, units } = await instrumented(root, sources);
  build(root, { names, files });
  const usable = mutants.filter(({ status }) => status !== "Ignored").map((mutant) => describe(mutant, sources));
  const sourceFiles = names.filter((name) =>
    /^(src|plugins)\/.*\.ts$|^scripts\/mutate\/(equivalent|messages|rooms|sandbox|worker)|lock.json$/.test(name),
  );
  const version = hash(...sourceFiles.map((name) => name + readFileSync(name, "utf8")));
  return { mutants: usable, ignored: mutants.length - usable.length, sources, units, version };
}

/** Half a minute for all mutants, so it is kept. */
async function instrumented(root, sources) {
  const kept = join(root, "..", "instrumented.json");
  const rules = ["messages.mjs", "equivalent.mjs"].map((name) => readFileSync(new URL(name, import.meta.url), "utf8"));
  const stamp = hash(...[...sources].flat(), ...rules);
  const known = existsSync(kept) ? JSON.parse(readFileSync(kept, "utf8")) : {};
  if (known.stamp === stamp) return { ...known, units: new Map(known.units) };
  const units = new Map();
  const equivalent = new Set();
  const note = (path) => {
    noteUnit(path, units);
    noteEquivalent(path, equivalent);
  };
  const { files, mutants: all } = await new Instrumenter(silent).instrument(
    [...sources].map(([name, content]) => ({ name, mutate: true, content })),
    {
      plugins: ["decorators-legacy", "typescript"],
      excludedMutations: [],
      ignorers: [{ shouldIgnore: (path) => note(path) ?? isMessage(path) }],
    },
  );
  const code = files.map(({ name, content }) => ({ name, content }));
  const mutants = all.map(({ id, fileName, mutatorName, location, replacement, status }) => ({
    id,
    fileName,
    mutatorName,
    location,
    replacement,
    status: equivalent.has(placeOf(fileName, location, replacement)) ? "Ignored" : status,
  }));
  mkdirSync(dirname(kept), { recursive: true });
  writeFileSync(kept, JSON.stringify({ stamp, files: code, mutants, units: [...units] }));
  return { files: code, mutants, units };
}

/** Writes what has changed, so that another test costs seconds; a build from nothing when a file is gone. */
function build(root, { names, files }) {
  const stampFile = join(root, "..", "names");
  const stamp = names.join("\n");
  if (!existsSync(stampFile) || !isWithin(readFileSync(stampFile, "utf8"), names)) {
    rmSync(root, { recursive: true, force: true });
    mkdirSync(root, { recursive: true });
    symlinkSync(resolve("node_modules"), join(root, "node_modules"));
  }
  rmSync(stampFile, { force: true });
  let changed = false;
  for (const name of names.filter((name) => !isMutated(name) && !/^(docs|bench|scripts\/mutate)\b/.test(name))) {
    if (isSame(join(root, name), readFileSync(name))) continue;
    changed = true;
    mkdirSync(join(root, dirname(name)), { recursive: true });
    cpSync(name, join(root, name), { verbatimSymlinks: true, force: true });
  }
  for (const { name, content } of files) {
    // Counting hits slows the tests down; it is switched off once it is known which tests reach what.
    const code = content.replace("function cover() {", "function cover() {\n    if (ns.coverageOff) return;");
    if (isSame(join(root, name), Buffer.from(code))) continue;
    changed = true;
    mkdirSync(join(root, dirname(name)), { recursive: true });
    writeFileSync(join(root, name), code);
  }
  if (changed) {
    const built = spawnSync(process.execPath, ["scripts/build.mjs", "--unchecked"], { cwd: root, stdio: "inherit" });
    if (built.status !== 0) throw new Error(`the mutated sources in ${root} do not compile`);
  }
  writeFileSync(stampFile, stamp);
}

function isWithin(stamp, names) {
  const now = new Set(names);
  return stamp.split("\n").every((name) => now.has(name));
}

const isSame = (file, bytes) => existsSync(file) && readFileSync(file).equals(bytes);

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
    room: roomOf(file),
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
