// Decides for a mutant whether a test fails because of it.
import { basename } from "node:path";

/** A mutant is run against as many of the tests that reach it as take this long, ms, those most likely to fail first: tests that
 *  killed others of its file, are named after it, reach little else, are quick. */
const budget = 1_500;
const mostTests = 150;

export class Judge {
  #reach;
  #kept;
  #runner;
  /** How many mutants of a file a test has killed. */
  #kills = new Map();
  #tests;
  #byFile;
  #hangs = 0;

  constructor({ mutants, reach, kept, runner }) {
    this.#byFile = Map.groupBy(mutants, ({ file }) => file);
    this.#reach = reach;
    this.#kept = kept;
    this.#runner = runner;
    this.#tests = new Map(reach.tests.map((test) => [test.id, test]));
  }

  /** Whether there is anything to run for it that has not been run. A killed one stays killed while the test that killed it is the same. */
  isOpen(mutant, { statics }) {
    const known = this.#kept.get(mutant.key);
    if (known?.by && this.#tests.has(known.by)) {
      this.#credit(mutant, this.#tests.get(known.by));
      return false;
    }
    if (this.#isStatic(mutant)) {
      if (!statics && known?.status !== "survived") this.#kept.set(mutant.key, { status: "static" });
      return statics && this.#isNew(known, this.#neighbours(mutant));
    }
    if (this.#reach.of(mutant.id).length > 0) return this.#isNew(known, this.#testsFor(mutant));
    this.#kept.set(mutant.key, { status: "uncovered" });
    return false;
  }

  async judge(mutant) {
    const isStatic = this.#isStatic(mutant);
    const known = this.#kept.get(mutant.key);
    const tried = new Set(known?.tried);
    const tests = (isStatic ? this.#neighbours(mutant) : this.#testsFor(mutant)).filter(({ id }) => !tried.has(id));
    const result = isStatic ? await this.#killFresh(mutant, tests) : await this.#killAny(mutant, tests);
    for (const { id } of tests) tried.add(id);
    this.#kept.set(mutant.key, result ?? { status: "survived", tried: [...tried].filter((id) => this.#tests.has(id)) });
  }

  stop() {
    return this.#runner.stop();
  }

  async #killAny(mutant, tests) {
    // mocha runs tests in the order of their files, so those likely to fail go alone.
    for (const some of [tests.slice(0, 4), tests.slice(4, 20), tests.slice(20)]) {
      const result = some.length > 0 && (await this.#kill(mutant, some));
      if (result) return result;
    }
    return undefined;
  }

  async #kill(mutant, tests) {
    for (let tries = 0; tries < 2; tries++) {
      const reply = await this.#run(mutant, tests);
      // What an earlier mutant left behind may have ended the process: tried again in a new one.
      if (!reply && tries === 0) continue;
      if (!reply) return { status: "timeout", by: tests[0].id };
      if (!reply.failure) return undefined;
      const test = tests.find(({ title }) => title === reply.failure.title) ?? tests[0];
      if (await this.#isToBlame(mutant, test, reply.failure)) {
        this.#credit(mutant, test);
        return { status: reply.failure.timeout ? "timeout" : "killed", by: test.id, error: reply.failure.error };
      }
      await this.#runner.stop();
    }
    return undefined;
  }

  /** Whether the test passes without the mutant and, unless that takes a timeout, fails again with it. */
  async #isToBlame(mutant, test, { timeout }) {
    if (!timeout && !(await this.#run(mutant, [test]))?.failure) return false;
    if (timeout) this.#hangs += 1;
    const without = await this.#run({ id: undefined }, [test]);
    // Timers and sockets of tests that hung pile up.
    if (this.#hangs % 20 === 19) await this.#runner.stop();
    return without !== undefined && !without.failure;
  }

  #run(mutant, tests) {
    const patience = 8_000 + 5 * timeOf(tests);
    return this.#runner.ask(
      { mutant: mutant.id, hitLimit: this.#reach.hitLimit(mutant.id), tests: withTimeouts(tests) },
      patience,
    );
  }

  async #killFresh(mutant, tests) {
    if (tests.length === 0) return undefined;
    const files = [...new Set(tests.map(({ file }) => file))];
    const message = { mutant: mutant.id, hitLimit: 1e6, tests: withTimeouts(tests) };
    const reply = await this.#runner.askFresh(message, { files, patience: 10_000 + 5 * timeOf(tests) });
    if (reply && !reply.failure) return undefined;
    const test = tests.find(({ title }) => title === reply?.failure.title) ?? tests[0];
    return { status: reply && !reply.failure.timeout ? "killed" : "timeout", by: test.id, error: reply?.failure.error };
  }

  #testsFor(mutant) {
    return this.#quickest(this.#reach.of(mutant.id), mutant, budget);
  }

  /** For code that runs at load: tests that reach the file's other code. */
  #neighbours(mutant) {
    const near = new Set(this.#byFile.get(mutant.file).flatMap(({ id }) => this.#reach.of(id)));
    return this.#quickest([...near], mutant, budget / 2);
  }

  #quickest(tests, { file }, budget) {
    const words = file.split(/[/.]/).slice(2, -1);
    const rank = ({ id, file: place, duration, reaches }) => {
      const kills = this.#kills.get(`${file} ${id}`) ?? 0;
      const named = words.some((word) => basename(place).includes(word));
      return ((duration + 2) * (1 + reaches / 100)) / (1 + 10 * kills) / (named ? 5 : 1);
    };
    const chosen = [];
    let time = 0;
    for (const test of tests.toSorted((a, b) => rank(a) - rank(b))) {
      time += test.duration + 2;
      if (chosen.length > 0 && (time > budget || chosen.length === mostTests)) break;
      chosen.push(test);
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

const timeOf = (tests) => tests.reduce((sum, { duration }) => sum + duration, 0);

const withTimeouts = (tests) => new Map(tests.map(({ title, duration }) => [title, 1_000 + 6 * duration]));
