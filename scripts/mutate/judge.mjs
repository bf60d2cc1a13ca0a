// Decides for a mutant whether a test fails because of it.
import { basename, dirname } from "node:path";
import { Doubts } from "./doubts.mjs";

/** A mutant is run against as many of the tests that reach it as take this long, ms, those most likely to fail first: tests that
 *  killed others of its file, are named after it or in its folder, reach little else, are quick. */
export const budgets = [1_000, 8_000];
const mostTests = 300;
const mostTries = 8;

export class Judge {
  #reach;
  #kept;
  /** How many mutants of a file a test has killed. */
  #kills = new Map();
  #tests;
  #byFile;
  #hangs = 0;
  #doubts;

  constructor({ mutants, reach, kept }) {
    this.#byFile = Map.groupBy(mutants, ({ file }) => file);
    this.#reach = reach;
    this.#kept = kept;
    this.#doubts = new Doubts(kept);
    this.#tests = new Map(reach.tests.map((test) => [test.id, test]));
  }

  /** Whether there is anything to run for it that has not been run. A killed one stays killed while the test that killed it is the same. */
  isOpen(mutant, { statics, budget }) {
    const known = this.#kept.get(mutant.key);
    if (known?.by && this.#tests.has(known.by)) {
      this.#credit(mutant, this.#tests.get(known.by));
      return false;
    }
    if (this.#isStatic(mutant)) {
      if (!statics && known?.status !== "survived") this.#kept.set(mutant.key, { status: "static" });
      return statics && this.#isNew(known, this.#neighbours(mutant, budget));
    }
    if (this.#reach.of(mutant.id).length > 0) {
      if (known?.status === "uncovered") this.#kept.forget(mutant.key);
      return this.#isNew(known, this.#testsFor(mutant, budget));
    }
    this.#kept.set(mutant.key, { status: "uncovered" });
    return false;
  }

  async judge(mutant, { runner, budget }) {
    const isStatic = this.#isStatic(mutant);
    const known = this.#kept.get(mutant.key);
    const tried = new Set(known?.tried);
    const tests = (isStatic ? this.#neighbours(mutant, budget) : this.#testsFor(mutant, budget)).filter(
      ({ id }) => !tried.has(id),
    );
    const result = isStatic ? await this.#killFresh(mutant, tests, runner) : await this.#killAny(mutant, tests, runner);
    for (const { id } of tests) tried.add(id);
    this.#kept.set(mutant.key, result ?? { status: "survived", tried: [...tried].filter((id) => this.#tests.has(id)) });
  }

  async #killAny(mutant, tests, runner) {
    // The likeliest go alone: a file's tests are run together, its hooks once.
    for (const some of [tests.slice(0, 3), tests.slice(3)]) {
      const result = some.length > 0 && (await this.#kill(mutant, some, runner));
      if (result) return result;
    }
    return undefined;
  }

  async #kill(mutant, given, runner) {
    for (let tries = 0; tries < mostTries; tries++) {
      const tests = given.filter((test) => this.#doubts.isUsable(test, runner));
      if (tests.length === 0) return undefined;
      const reply = await this.#run(mutant, tests, runner);
      // What an earlier mutant left behind may have ended the process: tried again in a new one.
      if (!reply && tries === 0 && !runner.wasFresh) continue;
      if (!reply) return { status: "timeout", by: tests[0].id };
      if (!reply.failure) return undefined;
      const test = failedOf(tests, reply.failure);
      if (await this.#isToBlame(mutant, { test, ...reply.failure }, runner)) {
        this.#credit(mutant, test);
        return { status: reply.failure.timeout ? "timeout" : "killed", by: test.id, error: reply.failure.error };
      }
      await this.#doubts.add(test, runner);
    }
    return undefined;
  }

  /** Whether the test passes without the mutant and, if it waits for sockets, files or programs or took too long, fails again with it. */
  async #isToBlame(mutant, { test, timeout }, runner) {
    const fails = async (one) => {
      const reply = await this.#run(one, [test], runner);
      return reply === undefined || reply.failure !== undefined;
    };
    const waits = test.duration + hookTime(test) > 100;
    if ((waits || timeout) && !(await fails(mutant))) return false;
    // Timers and sockets of tests that hung pile up.
    if (timeout && ++this.#hangs % 20 === 0) await runner.stop();
    return !(await fails(none));
  }

  #run(mutant, tests, runner) {
    const message = { mutant: mutant.id, hitLimit: this.#reach.hitLimit(mutant.id), files: byFile(tests) };
    return runner.ask(message, patienceFor(tests));
  }

  async #killFresh(mutant, tests, runner) {
    if (tests.length === 0) return undefined;
    const message = { mutant: mutant.id, hitLimit: 1e6, files: byFile(tests) };
    const reply = await runner.askFresh(message, patienceFor(tests));
    if (reply && !reply.failure) return undefined;
    const test = failedOf(tests, reply?.failure);
    return { status: reply && !reply.failure.timeout ? "killed" : "timeout", by: test.id, error: reply?.failure.error };
  }

  #testsFor(mutant, budget) {
    return this.#quickest(this.#reach.of(mutant.id), mutant, budget);
  }

  /** For code that runs at load: tests that reach the file's other code. */
  #neighbours(mutant, budget) {
    const near = new Set(this.#byFile.get(mutant.file).flatMap(({ id }) => this.#reach.of(id)));
    return this.#quickest([...near], mutant, budget / 2);
  }

  #quickest(tests, { file }, budget) {
    const words = file.split(/[/.]/).slice(2, -1);
    const folder = `dist/test/${dirname(file).replace(/^src\//, "")}/`;
    // Hooks of a suite are shared by those of its tests that reach the mutant.
    const sharers = new Map();
    for (const { hooks } of tests) for (const [suite] of hooks) sharers.set(suite, 1 + (sharers.get(suite) ?? 0));
    const rankOf = ({ id, file: place, duration, hooks, reaches }) => {
      const kills = this.#kills.get(`${file} ${id}`) ?? 0;
      const named = words.some((word) => basename(place).includes(word));
      const shared = hooks.reduce((sum, [suite, time]) => sum + time / sharers.get(suite), 0);
      const near = named ? 5 : place.startsWith(folder) ? 3 : 1;
      return ((duration + shared + 2) * (1 + reaches / 100)) / (1 + 10 * kills) / near;
    };
    const ranks = new Map(tests.map((test) => [test, rankOf(test)]));
    const chosen = [];
    const opened = new Set();
    let time = 0;
    for (const test of tests.toSorted((a, b) => ranks.get(a) - ranks.get(b))) {
      const more = test.duration + 2 + hookTime(test, opened);
      if (chosen.length > 0 && time + more > budget) continue; // a quicker one may still fit
      for (const [suite] of test.hooks) opened.add(suite);
      time += more;
      chosen.push(test);
      if (chosen.length === mostTests) break;
    }
    return chosen;
  }

  #isNew(known, tests) {
    return known?.status !== "survived" || tests.some(({ id }) => !known.tried.includes(id));
  }

  #isStatic({ id }) {
    return this.#reach.of(id).length === 0 && this.#reach.isStatic(id);
  }

  #credit({ file }, { id }) {
    this.#kills.set(`${file} ${id}`, 1 + (this.#kills.get(`${file} ${id}`) ?? 0));
  }
}

/** A hook that serves a whole file has no test of its own. */
const failedOf = (tests, failure) =>
  tests.find(({ title }) => title === failure?.title) ?? tests.find(({ file }) => file === failure?.file) ?? tests[0];

const none = { id: undefined };

/** Loading a file may take seconds. */
function patienceFor(tests) {
  const opened = new Set();
  let time = 0;
  for (const test of tests) {
    time += test.duration + hookTime(test, opened);
    for (const [suite] of test.hooks) opened.add(suite);
  }
  return 6_000 + 2 * time;
}

/** What hooks take that no test before it has run. */
const hookTime = ({ hooks }, opened = new Set()) =>
  hooks.reduce((sum, [suite, time]) => sum + (opened.has(suite) ? 0 : time), 0);

/** Titles with the time each may take, by file, in the order of `tests`. */
function byFile(tests) {
  const files = new Map();
  for (const { file, title, duration } of tests) {
    if (!files.has(file)) files.set(file, new Map());
    files.get(file).set(title, 1_500 + 5 * duration);
  }
  return files;
}
