import type { Chance } from "../../src/core/ports/chance.ts";
import type { Clock } from "../../src/core/ports/clock.ts";
import type { Decisions } from "./decisions.ts";
import { Heap } from "./heap.ts";

/** Something that completes later: an answer of the store, a chunk, a timer. */
export interface Item {
  readonly id: number;
  readonly at: number;
  readonly life: Life | undefined;
  readonly label: string;
  /** Timers and turns of one process keep their order; anything else that is due may come next. */
  readonly kind: "io" | "timer" | "turn";
  readonly callback: () => void;
  cancelled: boolean;
}

export const epoch = 1_700_000_000_000;
/** Faults end here, ms. */
export const calmAt = 60_000;

/** The world whose code is executing, for what reaches past the ports. */
let running: World | undefined;
export const runningWorld = (): World | undefined => running;

/** Runs code that has its own time: what is not a process of the service. */
export function outside<T>(work: () => T): T {
  const before = running;
  running = undefined;
  try {
    return work();
  } finally {
    running = before;
  }
}

/** One process from its start to its end. Nothing of it runs after its death, not even a `finally`, as after a kill. */
export class Life {
  dead = false;
  readonly name: string;
  readonly world: World;
  readonly onDeath = new Set<() => void>();
  /** Timers that are due, oldest first. */
  readonly due: Item[] = [];
  readonly turns: Item[] = [];
  readonly chance: Chance;

  constructor(world: World, name: string) {
    this.world = world;
    this.name = name;
    const { decisions } = world;
    this.chance = { random: () => decisions.below(1_000) / 1_000, uuid: () => world.uuid() };
  }

  /** Virtual time, which all processes share, with this process's own error of the wall clock. */
  clock(skew: number): Clock {
    const { world } = this;
    return {
      now: () => Math.floor(world.now + skew),
      monotonic: () => world.now,
      after: (ms, callback) => world.timer(this, ms, callback),
      turn: (callback) => {
        if (!this.dead) world.turn(this, callback);
      },
    };
  }

  kill(): void {
    if (this.dead) return;
    this.dead = true;
    this.due.length = 0;
    this.turns.length = 0;
    this.world.bury(this);
    for (const tell of this.onDeath) tell();
  }
}

/** Time and everything pending. One step takes one due completion, chosen by a decision, and lets its consequences run out. */
export class World {
  now = epoch;
  steps = 0;
  readonly decisions: Decisions;
  /** What is wrong, as found on the way. */
  readonly violations: string[] = [];
  readonly trace: string[] | undefined;
  /** Of everything that happened, in order. */
  hash = 0x811c9dc5;
  readonly #future = new Heap();
  #ready: Item[] = [];
  #lives: Life[] = [];
  #ids = 0;
  #uuids = 0;

  constructor(decisions: Decisions, options: { trace?: boolean } = {}) {
    this.decisions = decisions;
    this.trace = options.trace ? [] : undefined;
  }

  note(line: string): void {
    this.trace?.push(`${String(Math.round(this.now - epoch)).padStart(7)} ms  ${line}`);
    this.hash = Math.imul(Math.imul(this.hash ^ line.length, 0x01000193) ^ this.now, 0x01000193);
  }

  /** Numbers in place of random ids: the same in every repetition, and different in each process. */
  uuid(): string {
    const id = (++this.#uuids).toString(16);
    return `${id.padStart(8, "0")}-0000-4000-8000-${id.padStart(12, "0")}`;
  }

  violated(what: string): void {
    this.note(`VIOLATION ${what}`);
    this.violations.push(what);
  }

  birth(name: string): Life {
    const life = new Life(this, name);
    this.#lives.push(life);
    return life;
  }

  bury(life: Life): void {
    this.#lives = this.#lives.filter((other) => other !== life);
    this.#ready = this.#ready.filter((item) => item.life !== life);
  }

  /** A completion that may be chosen from `ms` from now on. It is lost when its process dies; without one it is the world's. */
  later(life: Life | undefined, label: string, ms: number, callback: () => void): void {
    this.#add(life, label, ms, "io", callback);
  }

  io(life: Life | undefined, label: string, ms: number): Promise<void> {
    return new Promise((resolve) => this.later(life, label, ms, resolve));
  }

  timer(life: Life, ms: number, callback: () => void): () => void {
    const item = this.#add(life, "timer", Math.max(0, ms), "timer", callback);
    return () => {
      if (item !== undefined) item.cancelled = true;
    };
  }

  turn(life: Life, callback: () => void): void {
    this.#add(life, "turn", 0, "turn", callback);
  }

  #add(life: Life | undefined, label: string, ms: number, kind: Item["kind"], callback: () => void): Item | undefined {
    if (life?.dead) {
      this.violated(`${life.name} is dead and waits for ${label}`);
      return undefined;
    }
    const item = { id: ++this.#ids, at: this.now + ms, life, label, kind, callback, cancelled: false };
    this.#future.push(item);
    return item;
  }

  /** Runs until `done`, a violation, nothing pending, or too many steps. */
  async run(done: () => boolean, most: number): Promise<void> {
    while (this.#hasMore(done, most)) {
      // Outside of any promise, where the queue of microtasks can be run out; and a turn of the real event loop now and then.
      const goesOn = await new Promise<boolean>((resolve, reject) =>
        realSetImmediate(() => {
          try {
            resolve(this.#steps(done, most));
          } catch (thrown) {
            reject(thrown);
          }
        }),
      );
      if (!goesOn) return;
    }
  }

  #hasMore(done: () => boolean, most: number): boolean {
    return !done() && this.steps < most && this.violations.length === 0;
  }

  /** Some thousand of them. False when nothing is pending. */
  #steps(done: () => boolean, most: number): boolean {
    running = this;
    try {
      runOut();
      while (this.#hasMore(done, most)) {
        const item = this.#next();
        if (item === undefined) return false;
        this.steps += 1;
        this.hash = Math.imul(Math.imul(this.hash ^ item.id, 0x01000193) ^ this.now, 0x01000193);
        if (this.trace !== undefined && item.kind === "io") this.note(`${item.life?.name ?? "world"}: ${item.label}`);
        item.callback();
        runOut();
        if (this.steps % 4_096 === 0) return true;
      }
      return true;
    } finally {
      running = undefined;
    }
  }

  /** Whatever is due until then, as `run` does it. For a store that is used in real time. */
  async until(time: number): Promise<void> {
    for (let item = this.#next(time); item !== undefined; item = this.#next(time)) {
      item.callback();
      await settled();
    }
    this.now = Math.max(this.now, time);
  }

  /** When there is something to do for `until`. */
  get nextAt(): number | undefined {
    return this.#future.first?.at;
  }

  #next(until = Number.POSITIVE_INFINITY): Item | undefined {
    for (;;) {
      this.#collect();
      const count = this.#countDue();
      if (count > 0) return this.#take(this.decisions.below(count));
      const next = this.#future.first;
      if (next === undefined || next.at > until) return undefined;
      this.now = Math.max(this.now, next.at);
    }
  }

  /** Moves what is due out of the future. It comes in the order of its time. */
  #collect(): void {
    for (let item = this.#future.first; item !== undefined && item.at <= this.now; item = this.#future.first) {
      this.#future.pop();
      if (item.cancelled || item.life?.dead) continue;
      if (item.kind === "io") this.#ready.push(item);
      else if (item.kind === "timer") item.life?.due.push(item);
      else item.life?.turns.push(item);
    }
  }

  /** Of what is ready all, of each process its next turn and its next timer. */
  #countDue(): number {
    let count = this.#ready.length;
    for (const { turns, due } of this.#lives) {
      while (due[0]?.cancelled) due.shift();
      if (turns.length > 0) count += 1;
      if (due.length > 0) count += 1;
    }
    return count;
  }

  #take(chosen: number): Item | undefined {
    let left = chosen - this.#ready.length;
    if (left < 0) return this.#ready.splice(chosen, 1)[0];
    for (const { turns, due } of this.#lives) {
      if (turns.length > 0 && left-- === 0) return turns.shift();
      if (due.length > 0 && left-- === 0) return due.shift();
    }
    throw new Error("nothing is due");
  }
}

const realSetImmediate = globalThis.setImmediate;

/**
 * Ticks and microtasks, until there are none; every other source of work is an item. What Node does between two callbacks of its
 * event loop, without going there: a turn costs a hundred times as much. A rejection that nobody handles comes out here.
 */
const runOut = (process as unknown as { _tickCallback: () => void })._tickCallback.bind(process); // not in the types

/** The same from within a promise: microtasks run out before a tick; what a tick starts runs out before the next one. */
const settled = (): Promise<void> =>
  new Promise((resolve) => process.nextTick(() => queueMicrotask(() => process.nextTick(resolve))));
