// npm run mutate [-- --count 1100 --seed 1 --minutes 9 --only src/agent/loop --jobs 2 --statics --list --fresh --record]
// Mutation tests of the rooms in mutate/sandbox.mjs: each mutant is run against the tests that reach it, until one fails.
// Stryker's instrumenter with a runner of our own: Stryker 10 loads neither mocha 12 nor TypeScript 7. CONTRIBUTING.md says
// what is counted and what is not.
import { globSync } from "node:fs";
import { parseArgs } from "node:util";
import { invalidOf } from "./mutate/compiles.mjs";
import { budgets, Judge } from "./mutate/judge.mjs";
import { Kept } from "./mutate/kept.mjs";
import { reachOf, slowest } from "./mutate/reach.mjs";
import { Runner } from "./mutate/runner.mjs";
import { hash, makeSandbox } from "./mutate/sandbox.mjs";
import { record, scoreOf, survivorsOf } from "./mutate/score.mjs";

const { values: options } = parseArgs({
  options: {
    /** How many mutants to judge, and which ones. */
    count: { type: "string", default: "1100" },
    seed: { type: "string", default: "1" },
    /** Only mutants of files whose path starts so. */
    only: { type: "string", default: "" },
    /** Stops after so long; the next run goes on from there. */
    minutes: { type: "string", default: "600" },
    jobs: { type: "string", default: "2" },
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
const count = Number(options.count);
const jobs = Number(options.jobs);
const root = ".stryker/sandbox";
/** Tests of these rooms, and of whole services in one process. The rest of `npm test` starts programs or does not reach them. */
const tests = [
  "dist/test/{agent,attachments,doors,gateway,journal,library,provider,serve,telemetry}/**/*.test.js",
  "dist/test/client/{client,feed}.test.js",
  "dist/test/host/{api,http,money,recordings,runs,shadow}/**/*.test.js",
  "dist/test/host/{audit,called-agents,debug-lines,open,operators,questions-everywhere,service,tenants,whole}.test.js",
  "dist/test/plugins/{channels,hostile,overloaded,rejected-arguments,tools,unnoticed}.test.js",
  "dist/test/plugins/{a2a,agent,ask,calculator,channel-*,clock,files,http,later,mcp,memory,module,recall,recall-memory,remember,shell}/*.test.js",
  "dist/test/why/{strange-answers,why}.test.js",
];
/** Tests of many seconds each, those that start programs, and those that only take bytes apart. */
const left = new RegExp(
  [
    "clock-jumps|agent-contract|library/(entry|restart|types)|shell/processes|property|growing-texts|sweep|registered",
    "restart|kill|stdio|approval-elsewhere|process-stalls|ribbon-timing|webhooks",
  ].join("|"),
);

const { mutants: all, ignored, sources, units, version } = await makeSandbox(root);
const drawn = all
  .filter(({ file }) => file.startsWith(options.only))
  .sort((a, b) => (hash(options.seed, a.key) < hash(options.seed, b.key) ? -1 : 1))
  .slice(0, Math.ceil(count * 1.75));
const invalid = await invalidOf(drawn, { sources, units });
const chosen = drawn.filter(({ key }) => !invalid.has(key)).slice(0, count);
say(
  `${chosen.length} of ${all.length} mutants; ${ignored} in messages left out, ${invalid.size} of ${drawn.length} do not compile`,
);

const files = globSync(tests, { cwd: root })
  .filter((file) => !left.test(file))
  .sort();
const reach = await reachOf({ root, files, version, jobs, say });
say(`${files.length} test files, ${reach.tests.length} tests that pass in under ${slowest / 1000} s each`);

const kept = new Kept("node_modules/.cache/venturi/mutants.json", options);
const judge = new Judge({ mutants: all, reach, kept });
// Those that the quickest tests do not notice meet more of them once all have been run.
let run = 0;
let open = [];
for (const budget of budgets) {
  // Survivors that have new tests go last.
  const isKnown = ({ key }) => Number(kept.get(key) !== undefined);
  open = chosen
    .filter((mutant) => judge.isOpen(mutant, { ...options, budget }))
    .sort((a, b) => isKnown(a) - isKnown(b))
    .reverse();
  say(`${open.length} to run against ${budget / 1000} s of tests`);
  await Promise.all(Array.from({ length: jobs }, () => work(new Runner(root), budget)));
}
kept.save();
// Stopped early: the part of the sample that was reached is a sample, too.
const next = open.findLast(({ key }) => kept.get(key) === undefined);
const reached = next === undefined ? chosen : chosen.slice(0, chosen.indexOf(next));
const survivors = survivorsOf(reached, kept);
if (options.list) for (const { text } of survivors) console.log(text);
say(`${run} mutants run now, ${open.length} left`);
const table = scoreOf(reached, kept);
console.table(table);
if (options.record) record("test/mutation.json", { table, survivors, options });

async function work(runner, budget) {
  while (performance.now() < stop) {
    const mutant = open.pop();
    if (mutant === undefined) break;
    await judge.judge(mutant, { runner, budget });
    run += 1;
    if (run % 10 === 0) kept.save();
    if (run % 100 === 0) say(`${run} run`);
  }
  await runner.stop();
}

function say(text) {
  console.log(`${((performance.now() - started) / 1000).toFixed(0)} s: ${text}`);
}
