// A copy of the checkout whose src/agent, src/journal and src/provider hold every mutant behind a switch: built once, not per mutant.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Instrumenter } from "@stryker-mutator/instrumenter";

export const folders = ["agent", "journal", "provider"];
const mutated = new RegExp(`^src/(${folders.join("|")})/.*\\.ts$`);

/** Mutants in a stable order that is random in effect: any prefix of it is a fair sample. */
export async function makeSandbox(root) {
  rmSync(root, { recursive: true, force: true });
  const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
  });
  const sources = [];
  for (const file of listed.stdout.split("\0").filter(Boolean)) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    if (mutated.test(file)) sources.push({ name: file, mutate: true, content: readFileSync(file, "utf8") });
    else cpSync(file, join(root, file), { verbatimSymlinks: true, force: true });
  }
  symlinkSync(resolve("node_modules"), join(root, "node_modules"));
  const { files, mutants } = await new Instrumenter(silent).instrument(sources, {
    plugins: ["decorators-legacy", "typescript"],
    excludedMutations: [],
    ignorers: [{ shouldIgnore: ignoredBecause }],
  });
  for (const { name, content } of files) writeFileSync(join(root, name), content);
  const built = spawnSync(process.execPath, ["scripts/build.mjs", "--unchecked"], { cwd: root, stdio: "inherit" });
  if (built.status !== 0) throw new Error(`the mutated sources in ${root} do not compile`);
  const text = new Map(sources.map(({ name, content }) => [name, content]));
  const usable = mutants.filter(({ status }) => status !== "Ignored").map((mutant) => describe(mutant, text));
  return { mutants: usable.sort((a, b) => (a.key < b.key ? -1 : 1)), ignored: mutants.length - usable.length };
}

/** The wording of a message is not behaviour: texts of three words and more. Codes, names and operations are shorter. */
function ignoredBecause(path) {
  const text = path.isStringLiteral()
    ? path.node.value
    : path.isTemplateLiteral() && path.node.quasis.map(({ value }) => value.raw).join("x");
  return text && /\w+\W* \w+\W* \w+/.test(text) ? "the wording of a message" : undefined;
}

function describe(mutant, text) {
  const { id, fileName: file, mutatorName: mutator, location, replacement } = mutant;
  const source = text.get(file);
  const lines = source.split("\n");
  const { start, end } = location;
  const original =
    start.line === end.line
      ? lines[start.line].slice(start.column, end.column)
      : `${lines[start.line].slice(start.column)} …`;
  // Found again while its line and what stands around it are the same, wherever they have moved to.
  const around = lines.slice(Math.max(0, start.line - 2), end.line + 3).join("\n");
  const key = hash(file, mutator, around, original, replacement, String(start.column));
  return { id, key, file, folder: mutated.exec(file)[1], line: start.line + 1, mutator, original, replacement };
}

export const hash = (...parts) => createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 24);

const nothing = () => {};
const silent = { isDebugEnabled: () => false, debug: nothing, info: nothing, warn: nothing, error: nothing };
