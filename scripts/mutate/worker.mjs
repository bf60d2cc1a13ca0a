// Runs tests of the sandbox in one warm process: loaded once, then run again for every mutant with its switch on.
import { resolve } from "node:path";
import Mocha from "mocha";

const switches = { mutantCoverage: { static: {}, perTest: {} } };
globalThis.__stryker__ = switches;
const { files, timeout } = JSON.parse(process.argv[2]);
class Silent {}
const mocha = new Mocha({ timeout, reporter: Silent });
for (const file of files) mocha.addFile(resolve(file));
await mocha.loadFilesAsync();
mocha.cleanReferencesAfterRun(false);
const quiet = () => {};
process.on("uncaughtException", quiet); // between two mutants; during a run mocha has its own
process.on("unhandledRejection", quiet);
for (const stream of [process.stdout, process.stderr]) stream.write = () => true;

process.on("message", async ({ mutant, hitLimit, titles, bail }) => {
  const wanted = titles && new Set(titles);
  mocha.options.grep = wanted && { test: (title) => wanted.has(title) };
  switches.activeMutant = mutant;
  switches.hitCount = hitLimit === undefined ? undefined : 0;
  switches.hitLimit = hitLimit;
  switches.mutantCoverage.perTest = {};
  const tests = [];
  let failure;
  const ended = Promise.withResolvers();
  const runner = mocha.run(() => ended.resolve());
  // Hooks of a suite serve all of its tests.
  runner.on("suite", (suite) => {
    switches.currentTestId = `suite ${suite.fullTitle()}`;
  });
  runner.on("test", (test) => {
    switches.currentTestId = `test ${test.fullTitle()}`;
  });
  runner.on("test end", (test) => {
    switches.currentTestId = `suite ${test.parent.fullTitle()}`;
    const { state, duration = 0, file } = test;
    tests.push({ title: test.fullTitle(), suites: suitesOf(test), state, duration, file });
  });
  runner.on("fail", (test, error) => {
    if (bail) runner.abort();
    failure ??= {
      title: test.fullTitle(),
      file: test.file,
      timeout: error?.code === "ERR_MOCHA_TIMEOUT",
      error: String(error?.message).slice(0, 200),
    };
  });
  await ended.promise;
  switches.activeMutant = undefined;
  switches.currentTestId = undefined;
  const coverage = mutant === undefined && hitLimit === undefined ? switches.mutantCoverage : undefined;
  process.send({ failure, tests: coverage ? tests : undefined, coverage });
});
process.send({ ready: true });

function suitesOf(test) {
  const titles = [];
  for (let suite = test.parent; suite && !suite.root; suite = suite.parent) titles.push(suite.fullTitle());
  return titles;
}
