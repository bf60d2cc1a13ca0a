// Runs tests of the sandbox in one warm process: loaded once, then run again for every mutant with its switch on.
import { relative, resolve } from "node:path";
import Mocha from "mocha";

const { files, mutant: atLoad } = JSON.parse(process.argv[2]);
const switches = { mutantCoverage: { static: {}, perTest: {} }, activeMutant: atLoad };
globalThis.__stryker__ = switches;
class Silent {}
const mocha = new Mocha({ timeout: 10_000, reporter: Silent });
for (const file of files) mocha.addFile(resolve(file));
await mocha.loadFilesAsync();
mocha.cleanReferencesAfterRun(false);
const statics = Object.keys(switches.mutantCoverage.static);
const all = new Map();
mocha.suite.eachTest((test) => all.set(test.fullTitle(), test));
const quiet = () => {};
process.on("uncaughtException", quiet); // between two mutants; during a run mocha has its own
process.on("unhandledRejection", quiet);
for (const stream of [process.stdout, process.stderr]) stream.write = () => true;

process.on("message", async (message) => process.send(message.dry ? await dryRun() : await mutantRun(message)));
process.send({ ready: true });

/** Minutes, with every byte counted. */
const tooSlow = /held one huge event .*json-array/;

async function dryRun() {
  const tests = [];
  mocha.options.grep = { test: (title) => !tooSlow.test(title) };
  await run((runner) => {
    // Hooks of a suite serve all of its tests.
    const inSuite = (suite) => {
      switches.currentTestId = `suite ${suite.fullTitle()}`;
    };
    runner.on("suite", inSuite);
    runner.on("suite end", (suite) => suite.parent && inSuite(suite.parent));
    runner.on("test", (test) => {
      switches.currentTestId = `test ${test.fullTitle()}`;
    });
    runner.on("test end", (test) => {
      inSuite(test.parent);
      tests.push(test);
    });
  });
  const { perTest } = switches.mutantCoverage;
  return {
    statics,
    tests: tests.map((test) => ({
      title: test.fullTitle(),
      file: relative(process.cwd(), test.file),
      state: test.state,
      duration: test.duration ?? 0,
      hits: Object.assign(
        {},
        ...suitesOf(test).map((title) => perTest[`suite ${title}`]),
        perTest[`test ${test.fullTitle()}`],
      ),
    })),
  };
}

/** Runs the tests until one fails. `tests` maps titles to the time each may take, ms. */
async function mutantRun({ mutant, hitLimit, tests }) {
  for (const [title, timeout] of tests) all.get(title)?.timeout(timeout);
  mocha.options.grep = { test: (title) => tests.has(title) };
  Object.assign(switches, { coverageOff: true, activeMutant: mutant, hitCount: 0, hitLimit });
  let failure;
  await run((runner) =>
    runner.on("fail", (test, error) => {
      runner.abort();
      failure ??= {
        title: test.type === "hook" ? (test.ctx?.currentTest?.fullTitle() ?? test.fullTitle()) : test.fullTitle(),
        file: test.file && relative(process.cwd(), test.file),
        timeout: error?.code === "ERR_MOCHA_TIMEOUT",
        error: String(error?.message).slice(0, 200),
      };
    }),
  );
  switches.activeMutant = atLoad;
  return { failure };
}

async function run(listen) {
  const { promise, resolve: ended } = Promise.withResolvers();
  listen(mocha.run(ended));
  await promise;
}

function suitesOf(test) {
  const titles = [];
  for (let suite = test.parent; suite; suite = suite.parent) titles.push(suite.fullTitle());
  return titles;
}
