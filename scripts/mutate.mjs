// npm run mutate [-- --minutes 9 --only src/agent/loop --sample 0.2 --seed 1 --statics --list --record]
// Mutation tests of src/agent, src/journal and src/provider: each mutant is run against the tests that reach it, until one fails.
// Stryker's instrumenter with a runner of our own: Stryker 10 loads neither mocha 12 nor TypeScript 7. CONTRIBUTING.md says
// what is counted and what is not.
import { globSync } from "node:fs";
import { parseArgs } from "node:util";
import { invalidOf } from "./mutate/compiles.mjs";
import { Judge } from "./mutate/judge.mjs";
import { Kept } from "./mutate/kept.mjs";
import { reachOf } from "./mutate/reach.mjs";
import { Runner } from "./mutate/runner.mjs";
import { hash, makeSandbox } from "./mutate/sandbox.mjs";
import { record, scoreOf } from "./mutate/score.mjs";

const { values: options } = parseArgs({
  options: {
    /** Stops after so long; the next run goes on from there. */
    minutes: { type: "string", default: "600" },
    /** Only mutants of files whose path starts so. */
    only: { type: "string", default: "src/" },
    /** The share of mutants to judge, and which ones. */
    sample: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    /** Mutants of code that runs at load: a new process for each. */
    statics: { type: "boolean", default: false },
    /** Prints survivors, whether or not they were run now. */
    list: { type: "boolean", default: false },
    /** Forgets earlier results. */
    fresh: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
  },
});
const started = performance.now();
const stop = started + Number(options.minutes) * 60_000;
const root = ".stryker/sandbox";
/** Unit tests of these folders and of what they rest on. The rest of `npm test` starts services and takes twenty times as long. */
const tests = "dist/test/{agent,core,journal,library,provider,serve,plugins/memory}/**/*.test.js";
const left = /\/(clock-jumps|agent-contract|types)\.test/;

const { mutants: all, ignored, sources, units, version } = await makeSandbox(root);
const invalid = await invalidOf(all, { sources, units });
const mutants = all.filter(({ key }) => !invalid.has(key));
const files = globSync(tests, { cwd: root })
  .filter((file) => !left.test(file))
  .sort();
say(`${mutants.length} mutants; ${ignored} in messages and ${invalid.size} that do not compile are left out`);

const reach = await reachOf({ root, files, version });
say(`${files.length} test files, ${reach.tests.length} tests that pass in under a second each`);

const kept = new Kept("node_modules/.cache/venturi/mutants.json", options);
const judge = new Judge({ mutants, reach, kept, runner: new Runner(root, files) });
const chosen = mutants
  .filter(({ file }) => file.startsWith(options.only))
  .sort((a, b) => (hash(options.seed, a.key) < hash(options.seed, b.key) ? -1 : 1));
chosen.length = Math.round(chosen.length * Number(options.sample));
let run = 0;
for (const mutant of chosen) {
  if (performance.now() > stop) break;
  if (!judge.isOpen(mutant, options)) continue;
  await judge.judge(mutant);
  run += 1;
  if (run % 50 === 0) kept.save();
  if (run % 500 === 0) say(`${run} run`);
}
await judge.stop();
kept.save();
if (options.list) list();
say(`${run} mutants run now`);
const table = scoreOf(chosen, kept);
console.table(table);
if (options.record) record("test/mutation.json", table, options);

function list() {
  for (const { key, file, line, mutator, original, replacement } of chosen.toSorted((a, b) =>
    a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line,
  )) {
    const status = kept.get(key)?.status;
    if (status === "killed" || status === "timeout" || status === undefined) continue;
    console.log(`${status} ${file}:${line} ${mutator}\n  - ${oneLine(original)}\n  + ${oneLine(replacement)}`);
  }
}

function oneLine(text) {
  return text.replaceAll(/\s+/g, " ").slice(0, 160);
}

function say(text) {
  console.log(`${((performance.now() - started) / 1000).toFixed(0)} s: ${text}`);
}
