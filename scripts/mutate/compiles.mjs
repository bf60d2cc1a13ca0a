// Mutants that the type checker refuses are no mutants: nobody could commit them. As Stryker's own checker does it, many are checked
// in one run of tsc, at most one in each function, so that an error is the fault of the mutant beside it.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { mutatedFolders } from "./rooms.mjs";

const cacheFile = "node_modules/.cache/venturi/compiles.json";
const root = ".stryker/types";

/** Keys of the mutants that do not compile. */
export async function invalidOf(mutants, { sources, units }) {
  const cache = existsSync(cacheFile) ? JSON.parse(readFileSync(cacheFile, "utf8")) : {};
  const open = mutants.filter(({ key }) => cache[key] === undefined);
  if (open.length > 0) {
    prepare();
    // Twice with other neighbours: an error that a neighbour in another function caused does not come back.
    const refused = check(open, { sources, units });
    const again = check(refused.reverse(), { sources, units });
    for (const { key } of open) cache[key] = true;
    for (const { key } of again) cache[key] = false;
    mkdirSync(dirname(cacheFile), { recursive: true });
    writeFileSync(cacheFile, JSON.stringify(cache));
  }
  return new Set(mutants.filter(({ key }) => cache[key] === false).map(({ key }) => key));
}

function prepare() {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  for (const name of ["src", "plugins"]) cpSync(name, join(root, name), { recursive: true });
  cpSync("package.json", join(root, "package.json"));
  symlinkSync(resolve("node_modules"), join(root, "node_modules"));
  const { compilerOptions } = JSON.parse(readFileSync("tsconfig.json", "utf8"));
  const relaxed = { noEmit: true, incremental: false, noUnusedLocals: false, allowUnreachableCode: true };
  delete compilerOptions.tsBuildInfoFile;
  writeFileSync(
    join(root, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        ...compilerOptions,
        ...relaxed,
        rewriteRelativeImportExtensions: false,
        allowImportingTsExtensions: true,
      },
      include: mutatedFolders,
    }),
  );
}

function check(mutants, { sources, units }) {
  const refused = [];
  let written = new Set();
  for (const round of roundsOf(mutants, units)) {
    const byFile = Map.groupBy(round, ({ file }) => file);
    for (const file of written) if (!byFile.has(file)) writeFileSync(join(root, file), sources.get(file));
    written = new Set(byFile.keys());
    const places = [];
    for (const [file, some] of byFile) places.push(...write(file, some, { sources, units }));
    const { stdout } = spawnSync(
      process.execPath,
      ["node_modules/typescript/bin/tsc", "-p", root, "--pretty", "false"],
      {
        encoding: "utf8",
        maxBuffer: 1e9,
      },
    );
    for (const [, name, line] of stdout.matchAll(/^(\S+?)\((\d+),\d+\): error/gm)) {
      const place = places.find(
        (one) => name.endsWith(one.file) && one.first <= Number(line) && Number(line) <= one.last,
      );
      if (place && !refused.includes(place.mutant)) refused.push(place.mutant);
    }
  }
  for (const file of written) writeFileSync(join(root, file), sources.get(file));
  return refused;
}

/** Writes the file with its mutants in place. Returns where the unit of each one now is. */
function write(file, mutants, { sources, units }) {
  const lines = sources.get(file).split("\n");
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1) + line.length + 1);
  const at = ({ line, column }) => starts[line] + column;
  let text = sources.get(file);
  const places = [];
  let added = 0;
  for (const mutant of mutants.toSorted((a, b) => b.location.start.line - a.location.start.line)) {
    const { start, end } = mutant.location;
    text = text.slice(0, at(start)) + codeOf(mutant) + text.slice(at(end));
  }
  for (const mutant of mutants.toSorted((a, b) => a.location.start.line - b.location.start.line)) {
    const { first, last } = unitOf(mutant, units);
    const more = mutant.replacement.split("\n").length - mutant.original.split("\n").length;
    places.push({ file, mutant, first: first + added, last: last + added + more });
    added += more;
  }
  writeFileSync(join(root, file), text);
  return places;
}

/** A statement taken out leaves `;`, which tsc refuses as the body of an `if`. */
const codeOf = ({ replacement }) => (replacement === ";" ? "{}" : replacement);

function roundsOf(mutants, units) {
  const rounds = [];
  const used = new Map();
  for (const mutant of mutants) {
    const { first } = unitOf(mutant, units);
    const index = used.get(`${mutant.file}:${first}`) ?? 0;
    used.set(`${mutant.file}:${first}`, index + 1);
    if (!rounds[index]) rounds[index] = [];
    rounds[index].push(mutant);
  }
  return rounds;
}

/** The smallest function, member or statement around a mutant. */
function unitOf({ file, line }, units) {
  const around = (units.get(file) ?? []).filter(({ first, last }) => first <= line && line <= last);
  return around.sort((a, b) => a.last - a.first - (b.last - b.first))[0] ?? { first: line, last: line };
}
