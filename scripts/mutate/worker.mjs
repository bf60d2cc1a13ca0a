// Runs tests of the sandbox in one warm process: a test file is loaded when it is first asked for, then run again for every mutant
// with its switch on.
import fs, { globSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import Mocha from "mocha";
import { ownTime } from "./own-time.mjs";
import { mutatedFolders } from "./rooms.mjs";

const { mutant: atLoad, dry } = JSON.parse(process.argv[2]);
const switches = { mutantCoverage: { static: {}, perTest: {} }, activeMutant: atLoad };
globalThis.__stryker__ = switches;
const { setTimeout } = globalThis; // some tests put a clock of their own in its place
let closing = false;
const quiet = () => {};
process.on("uncaughtException", quiet); // between two mutants; during a run mocha has its own
process.on("unhandledRejection", quiet);
limitOwnTime();
keepFolders();
await import(pathToFileURL(resolve("dist/test/seed.js")));
if (dry) await loadMutated();
const loaded = new Map();

process.on("message", async (message) =>
  process.send(message.dry ? await dryRun(message.dry) : await mutantRun(message)),
);
process.on("disconnect", () => process.exit()); // whoever asked is gone
process.send({ ready: true });

/** Before any test is measured: what it imports while it runs would count as reached by it, but is loaded only once. */
async function loadMutated() {
  const files = globSync(mutatedFolders.map((folder) => `dist/${folder}/**/*.js`));
  await Promise.allSettled(files.map((file) => import(pathToFileURL(resolve(file)))));
}

/** Minutes, with every byte counted; or a database server of its own. */
const tooSlow = /held one huge event .*json-array|postgres/i;

/** All tests of a file, what each reaches, and the time of it and of the hooks of its suites. */
async function dryRun(file) {
  const mocha = await load(file);
  const statics = Object.keys(switches.mutantCoverage.static);
  const tests = [];
  const hooks = {};
  let began;
  mocha.options.grep = { test: (title) => !tooSlow.test(title) };
  await run(mocha, (runner) => {
    // Hooks of a suite serve all of its tests.
    const inSuite = (suite) => {
      switches.currentTestId = `suite ${suite.fullTitle()}`;
    };
    runner.on("suite", inSuite);
    runner.on("suite end", (suite) => suite.parent && inSuite(suite.parent));
    runner.on("test", (test) => {
      test.limit = 60_000;
      began = ownTime();
      switches.currentTestId = `test ${test.fullTitle()}`;
    });
    runner.on("test end", (test) => {
      inSuite(test.parent);
      tests.push({ test, duration: ownTime() - began });
    });
    // Those before each test are in its time.
    let hookBegan;
    runner.on("hook", () => {
      hookBegan = ownTime();
    });
    runner.on("hook end", ({ title, parent }) => {
      const time = ownTime() - hookBegan;
      if (title.includes("after each")) tests.at(-1).duration += time;
      if (title.includes(" all")) hooks[parent.fullTitle()] = (hooks[parent.fullTitle()] ?? 0) + time;
    });
  });
  switches.currentTestId = undefined;
  const { perTest } = switches.mutantCoverage;
  switches.mutantCoverage.perTest = {};
  return {
    statics,
    tests: tests.map(({ test, duration }) => ({
      title: test.fullTitle(),
      file,
      state: test.state,
      duration: Math.max(1, Math.round(duration)),
      // Shared by the tests of a suite.
      hooks: suitesOf(test).flatMap((title) =>
        hooks[title] > 1 ? [[`${file} ${title}`, Math.round(hooks[title])]] : [],
      ),
      hits: Object.assign(
        {},
        ...suitesOf(test).map((title) => perTest[`suite ${title}`]),
        perTest[`test ${test.fullTitle()}`],
      ),
    })),
  };
}

/** Runs the tests until one fails: files in the order of `files`, each with the titles of its tests and the time each may take, ms. */
async function mutantRun({ mutant, hitLimit, files }) {
  let failure;
  for (const [file, titles] of files) {
    switches.activeMutant = atLoad;
    const mocha = await load(file);
    Object.assign(switches, { coverageOff: true, activeMutant: mutant, hitCount: 0, hitLimit });
    activateElsewhere(mutant);
    mocha.suite.eachTest((test) => {
      test.limit = titles.get(test.fullTitle());
    });
    mocha.options.grep = { test: (title) => titles.has(title) };
    await run(mocha, (runner) =>
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
    if (failure) break;
  }
  switches.activeMutant = atLoad;
  activateElsewhere(atLoad);
  return { failure };
}

/** In threads and programs that a test starts. */
function activateElsewhere(mutant) {
  if (mutant === undefined) delete process.env.__STRYKER_ACTIVE_MUTANT__;
  else process.env.__STRYKER_ACTIVE_MUTANT__ = mutant;
}

async function load(file) {
  if (loaded.has(file)) return loaded.get(file);
  class Silent {}
  const mocha = new Mocha({ timeout: 0, reporter: Silent });
  mocha.addFile(resolve(file));
  await mocha.loadFilesAsync();
  mocha.cleanReferencesAfterRun(false);
  keepOpen(mocha.suite);
  loaded.set(file, mocha);
  return mocha;
}

/** What was opened while the file loaded must be there when it is run again; `before` opens anew what `after` closes. */
function keepOpen(suite) {
  if (suite._beforeAll.length === 0) suite._afterAll.length = 0;
  suite.suites.forEach(keepOpen);
}

/** A folder that was made while the file loaded is not removed by `after`, either. */
function keepFolders() {
  const { rmSync, promises } = fs;
  const { rm } = promises;
  fs.rmSync = (...words) => (closing ? undefined : rmSync(...words));
  promises.rm = async (...words) => (closing ? undefined : await rm.call(promises, ...words));
  syncBuiltinESMExports();
}

async function run(mocha, listen) {
  const { promise, resolve: ended } = Promise.withResolvers();
  const runner = mocha.run(ended);
  runner.on("hook", ({ title }) => {
    closing = title.includes("after all");
  });
  runner.on("hook end", () => {
    closing = false;
  });
  listen(runner);
  await promise;
}

/** A test or hook times out after `limit` ms of own time; mocha's limits on wall time are off. */
function limitOwnTime() {
  Mocha.Runnable.prototype.timeout = function (value) {
    return value === undefined ? 0 : this;
  };
  Mocha.Runnable.prototype.resetTimeout = function () {
    this.clearTimeout();
    const limit = this.limit ?? 10_000;
    const end = ownTime() + limit;
    const look = () => {
      const left = end - ownTime();
      if (left > 0) {
        this.timer = setTimeout(look, left);
        return;
      }
      this.callback(this._timeoutError(limit));
      this.timedOut = true;
    };
    this.timer = setTimeout(look, limit);
  };
}

function suitesOf(test) {
  const titles = [];
  for (let suite = test.parent; suite; suite = suite.parent) titles.push(suite.fullTitle());
  return titles;
}
