// Tests that failed without a mutant, run alone: they build on the test before them, or a mutant has spoilt the process. They are not
// used until the process is replaced, and not at all once that happened in two processes.

/** So many in one process spoil it. */
const most = 5;

export class Doubts {
  #kept;
  #now = new WeakMap();
  /** In how many processes, by test. */
  #counts;

  constructor(kept) {
    this.#kept = kept;
    this.#counts = new Map(Object.entries(kept.get("doubts") ?? {}));
  }

  isUsable({ id }, runner) {
    return (this.#counts.get(id) ?? 0) < 2 && !this.#now.get(runner)?.has(id);
  }

  async add({ id }, runner) {
    const now = this.#now.get(runner) ?? new Set();
    this.#now.set(runner, now.add(id));
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
    this.#kept.set("doubts", Object.fromEntries(this.#counts));
    if (now.size < most) return;
    now.clear();
    await runner.stop();
  }
}
