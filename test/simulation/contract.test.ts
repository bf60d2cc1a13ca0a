import type { Journal } from "../../src/core/journal/journal.ts";
import { journalContract } from "../../src/testing/journal.ts";
import { connect } from "./connection.ts";
import { Coverage } from "./coverage.ts";
import { Decisions } from "./decisions.ts";
import { Engine } from "./engine.ts";
import { type Profile, profileOf } from "./profile.ts";
import { World } from "./world.ts";

/** The store in real time: what is due happens, in its own order, at most a millisecond late. */
class Live {
  readonly #engine: Engine;
  readonly #world: World;
  #open = 0;
  #processes = 0;
  #wake = (): void => {};

  constructor(seed: number, given: Partial<Profile>, lease: number) {
    const decisions = Decisions.seeded(seed);
    const quiet = { slow: 0, refused: 0, lost: 0, late: 0, hintLost: 0, fullDisk: 0 };
    this.#world = new World(decisions);
    Object.defineProperty(this.#world, "now", { get: () => Date.now(), set: () => {} });
    const later = this.#world.later.bind(this.#world);
    this.#world.later = (...item) => {
      later(...item);
      this.#wake();
    };
    this.#engine = new Engine(this.#world, { ...profileOf(decisions), ...quiet, ...given }, new Coverage(), { lease });
  }

  /** Another process's connection. */
  connect(): Journal {
    const journal = connect(this.#engine, this.#world.birth(`w${this.#processes++}`));
    const close = journal.close.bind(journal);
    let isOpen = true;
    if (this.#open++ === 0) void this.#pump();
    return Object.assign(journal, {
      close: async () => {
        await close();
        if (isOpen) this.#open -= 1;
        isOpen = false;
        this.#wake();
      },
    });
  }

  async #pump(): Promise<void> {
    while (this.#open > 0) {
      await this.#world.until(Date.now());
      await this.#news();
    }
  }

  /** Resolves when something is due. Looking at each turn of the event loop took a whole core. */
  #news(): Promise<void> {
    const { nextAt } = this.#world;
    return new Promise((resolve) => {
      const ms = nextAt === undefined ? 1_000 : nextAt - Date.now();
      const timer = ms > 0 ? setTimeout(resolve, ms) : undefined;
      if (timer === undefined) setImmediate(resolve);
      else
        this.#wake = () => {
          this.#wake = () => {};
          clearTimeout(timer);
          setImmediate(resolve);
        };
    });
  }
}

const kinds: Readonly<Record<string, Partial<Profile>>> = {
  "requests and answers late and in any order": { near: 0, delay: 3, twice: 0, apart: true, sync: false },
  // A writer that gets its answers at once gives nobody else a turn, so what others ask has to arrive at once too.
  "answers without a promise": { near: 1, delay: 0, twice: 0, apart: false, sync: true },
};

for (const [name, profile] of Object.entries(kinds)) {
  let live: Live | undefined;
  let seed = 0;
  journalContract(`the simulation's store, ${name}`, {
    open: async ({ lease }) => {
      live = new Live(++seed, profile, lease);
      return live.connect();
    },
    reopen: async ({ lease }) => {
      live ??= new Live(++seed, profile, lease);
      return live.connect();
    },
  });
}
