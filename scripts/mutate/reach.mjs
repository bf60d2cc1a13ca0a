// Which tests reach which mutants, from a run without a mutant. Kept per test file until the file, a helper of tests or a source changes.
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Runner } from "./runner.mjs";
import { hash } from "./sandbox.mjs";

const cacheFile = "node_modules/.cache/venturi/reach.json";
/** Slower tests are not used: a survivor would cost too much. */
export const slowest = 3_000;
/** For all tests of a file, ms. */
const patience = 120_000;

export async function reachOf({ root, files, version, jobs, say }) {
  const read = (file) => readFileSync(join(root, file), "utf8");
  const helpers = globSync("dist/test/**/*.js", { cwd: root }).filter((file) => !file.endsWith(".test.js"));
  const base = hash(version, ...helpers.sort().map(read));
  const kept = existsSync(cacheFile) ? JSON.parse(readFileSync(cacheFile, "utf8")) : {};
  const cache = kept.base === base ? kept.files : {};
  const hashes = new Map(files.map((file) => [file, hash(read(file))]));
  const open = files.filter((file) => cache[file]?.hash !== hashes.get(file));
  const save = () => writeFileSync(cacheFile, JSON.stringify({ base, files: cache }));
  mkdirSync(dirname(cacheFile), { recursive: true });
  const measure = async (runner) => {
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      const { tests, statics } = (await runner.ask({ dry: file }, patience)) ?? { tests: [], statics: [] };
      if (tests.length === 0) say(`${file} did not end without a mutant, or has no test; it is not used`);
      cache[file] = { hash: hashes.get(file), tests, statics, most: mostHits(tests) };
      for (const test of tests) test.hits = Object.keys(test.hits);
      if (open.length % 10 === 0) save();
      if (open.length % 20 === 0) say(`${open.length} test files to try without a mutant`);
    }
    await runner.stop();
  };
  if (open.length > 0) {
    await Promise.all(
      Array.from({ length: Math.min(jobs, open.length) }, () => measure(new Runner(root, { dry: true }))),
    );
    save();
  }
  return new Reach(files.map((file) => cache[file]));
}

function mostHits(tests) {
  const most = {};
  for (const { hits } of tests)
    for (const [id, count] of Object.entries(hits)) most[id] = Math.max(most[id] ?? 0, count);
  return most;
}

class Reach {
  tests = [];
  #byMutant = new Map();
  #statics = new Set();
  #most = new Map();

  constructor(files) {
    for (const { tests, statics, most, hash: version } of files) {
      for (const id of statics) this.#statics.add(id);
      for (const [id, count] of Object.entries(most)) this.#most.set(id, Math.max(count, this.#most.get(id) ?? 0));
      for (const { hits, ...test } of tests) {
        if (test.state !== "passed" || test.duration > slowest) continue;
        const one = { ...test, reaches: hits.length, id: hash(version, test.title).slice(0, 10) };
        this.tests.push(one);
        for (const id of hits) {
          if (!this.#byMutant.has(id)) this.#byMutant.set(id, []);
          this.#byMutant.get(id).push(one);
        }
      }
    }
  }

  of(id) {
    return this.#byMutant.get(id) ?? [];
  }

  isStatic(id) {
    return this.#statics.has(id);
  }

  /** How often one test may reach the mutant before it counts as an endless loop. */
  hitLimit(id) {
    return Math.max(20_000, 20 * (this.#most.get(id) ?? 0));
  }
}
