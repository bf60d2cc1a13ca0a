// npm run mutate [-- --minutes 30 --only src/agent/loop --list]
// Mutation tests of src/agent, src/journal and src/provider: each mutant is run against the tests that reach it, until one fails.
// Stryker's instrumenter with a runner of our own: Stryker 10 loads neither mocha 12 nor TypeScript 7.
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { Runner } from "./mutate/runner.mjs";
import { hash, makeSandbox } from "./mutate/sandbox.mjs";
import { record, scoreOf } from "./mutate/score.mjs";

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "600" },
    only: { type: "string", default: "src/" },
    list: { type: "boolean", default: false },
    fresh: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
  },
});
const root = ".stryker/sandbox";
const cacheFile = "node_modules/.cache/venturi/mutants.json";
const reachFile = "node_modules/.cache/venturi/reach.json";
/** The tests of these folders and of what they rest on: quick ones, in process. The rest of `npm test` takes twenty times as long. */
const tests = "dist/test/{agent,core,journal,library,provider,serve,plugins/memory}/**/*.test.js";
const left = /\/(clock-jumps|agent-contract)\.test/;
/** A mutant is run against as many of its tests as take this long, the quickest first. */
const budget = 20_000;
const testTimeout = 10_000;
/** How often a mutant may be reached before it counts as an endless loop. */
const hitLimit = 1_000_000;

console.log("instrumenting …");
const { mutants, ignored } = await makeSandbox(root);
const files = globSync(tests, { cwd: root })
  .filter((file) => !left.test(file))
  .sort();
console.log(
  `${mutants.length} mutants, ${ignored} ignored, ${files.length} test files; looking which tests reach which mutants …`,
);
const runner = new Runner(root, files, testTimeout);
const testHash = hash(...files.map((file) => readFileSync(join(root, file), "utf8")));
const dry = await reaching(hash(testHash, ...mutants.map(({ id, key }) => id + key)));
const survived = { status: "survived", tests: testHash };
const kills = new Map();
const reach = reachOf(dry);
const seconds = dry.tests.reduce((sum, { duration }) => sum + duration, 0) / 1000;
console.log(
  `${dry.tests.length} tests in ${seconds.toFixed(0)} s, ${dry.tests.length - reach.usable} left out as they fail or are skipped`,
);

const results = options.fresh || !existsSync(cacheFile) ? {} : JSON.parse(readFileSync(cacheFile, "utf8"));
const stop = performance.now() + Number(options.minutes) * 60_000;
const chosen = mutants.filter(({ file }) => file.startsWith(options.only));
let done = 0;
for (const mutant of chosen) {
  if (performance.now() > stop) break;
  if (!isStill(results[mutant.key])) results[mutant.key] = await judge(mutant);
  done += 1;
  const { status, by } = results[mutant.key];
  if (status === "survived" || status === "uncovered") {
    console.log(
      `${status} ${mutant.file}:${mutant.line} ${mutant.mutator}\n  - ${oneLine(mutant.original)}\n  + ${oneLine(mutant.replacement)}`,
    );
  } else if (options.list) console.log(`${status} ${mutant.file}:${mutant.line} ${by ?? ""}`);
  if (done % 20 === 0) save();
}
await runner.stop();
save();
console.log(`${done} of ${chosen.length} mutants`);
const table = scoreOf(mutants, results);
console.table(table);
if (options.record) record("test/mutation.json", table);

/** The run without a mutant, kept until a source or a test changes. */
async function reaching(key) {
  const kept = existsSync(reachFile) ? JSON.parse(readFileSync(reachFile, "utf8")) : {};
  if (kept.key === key) return kept.dry;
  const dry = await runner.ask({ bail: false }, 30 * 60_000);
  if (!dry) throw new Error("the tests did not end without a mutant");
  mkdirSync(dirname(reachFile), { recursive: true });
  writeFileSync(reachFile, JSON.stringify({ key, dry }));
  return dry;
}

/** A killed one stays killed while the test that killed it is the same; one that survived is tried again when any test has changed. */
function isStill(result) {
  if (!result) return false;
  if (result.status === "static") return true;
  return result.tests === (result.file ? fileHash(result.file) : testHash);
}

async function judge(mutant) {
  const { titles, isStatic } = reach.of(mutant);
  if (titles.length === 0) return isStatic ? { status: "static" } : { status: "uncovered", tests: testHash };
  // mocha runs them in the order of the files: first those alone that are likely to fail.
  for (const some of [titles.slice(0, 12), titles.slice(12)]) {
    const found = some.length === 0 ? survived : await kill(mutant, some);
    if (found.status !== "survived") return found;
  }
  return survived;
}

async function kill(mutant, titles) {
  const patience = 30_000 + 3 * budget;
  for (let tries = 0; tries < 2; tries++) {
    const reply = await runner.ask({ mutant: mutant.id, hitLimit, titles, bail: true }, patience);
    if (!reply) {
      if (tries === 0) continue; // what the mutant before left behind may have ended it
      return { status: "timeout", tests: testHash };
    }
    if (!reply.failure) return survived;
    // Would it fail without the mutant, too? Then this process is spoilt, or the test is one that fails at times.
    const { title, file, timeout, error } = reply.failure;
    const again = await runner.ask({ titles: [clean(title)], bail: true, hitLimit: Number.MAX_SAFE_INTEGER }, patience);
    if (again && !again.failure) {
      kills.set(`${mutant.file} ${title}`, 1 + (kills.get(`${mutant.file} ${title}`) ?? 0));
      const place = file && relative(join(process.cwd(), root), file);
      return {
        status: timeout ? "timeout" : "killed",
        by: title,
        error,
        file: place,
        tests: place ? fileHash(place) : testHash,
      };
    }
    await runner.stop();
  }
  return survived;
}

/** Titles of the tests that reach each mutant, as many as the budget allows: those first that killed others of its file, then the quickest. */
function reachOf({ tests: ran, coverage }) {
  const good = ran.filter(({ state }) => state === "passed").sort((a, b) => a.duration - b.duration);
  const bySuite = new Map();
  for (const test of good) for (const suite of test.suites) bySuite.set(suite, [...(bySuite.get(suite) ?? []), test]);
  const byTitle = new Map(good.map((test) => [test.title, test]));
  const reached = new Map();
  for (const [place, hits] of Object.entries(coverage.perTest)) {
    const [, kind, title] = /^(test|suite) (.*)$/s.exec(place);
    const reaching = kind === "test" ? [byTitle.get(title)].filter(Boolean) : (bySuite.get(title) ?? []);
    for (const id of Object.keys(hits)) {
      if (!reached.has(id)) reached.set(id, new Set());
      for (const test of reaching) reached.get(id).add(test);
    }
  }
  return {
    usable: good.length,
    of({ id, file }) {
      const titles = [];
      let time = 0;
      const rank = ({ title, duration }) => duration / (1 + 10 * (kills.get(`${file} ${title}`) ?? 0));
      for (const test of [...(reached.get(id) ?? [])].sort((a, b) => rank(a) - rank(b))) {
        time += test.duration + 2;
        if (titles.length > 0 && time > budget) break;
        titles.push(test.title);
      }
      return { titles, isStatic: id in coverage.static };
    },
  };
}

/** A hook that fails is named after its test. */
function clean(title) {
  return (
    /^(.*) "(?:before|after) (?:each|all)" hook(?:: .*)? for "(.*)"$/s.exec(title)?.slice(1).join(" ").trim() ?? title
  );
}

function fileHash(file) {
  const path = join(root, file);
  return existsSync(path) ? hash(readFileSync(path, "utf8")) : undefined;
}

function save() {
  mkdirSync(dirname(cacheFile), { recursive: true });
  writeFileSync(cacheFile, JSON.stringify(results));
}

function oneLine(text) {
  return text.replaceAll(/\s+/g, " ").slice(0, 160);
}
