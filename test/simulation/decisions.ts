import { Random } from "../chaos/random.ts";

/**
 * The source of every choice in a history. Each is a number below `count`, and 0 is always the plain one: no fault, the oldest
 * completion, the shortest wait. The choices are kept, so that a history can be repeated from its log alone and made smaller
 * by zeroing choices, also after the code has changed and the seed means something else.
 */
export class Decisions {
  readonly log: number[] = [];
  readonly #random: Random | undefined;
  readonly #given: readonly number[];

  private constructor(random: Random | undefined, given: readonly number[]) {
    this.#random = random;
    this.#given = given;
  }

  static seeded(seed: number): Decisions {
    return new Decisions(new Random(Math.imul(seed, 0x9e3779b1) ^ 0x51ed270b), []);
  }

  /** Repeats a log; past its end every choice is 0. */
  static replayed(log: readonly number[]): Decisions {
    return new Decisions(undefined, log);
  }

  below(count: number): number {
    if (count <= 1) return 0;
    const drawn = this.#random?.between(0, count - 1) ?? Math.min(this.#given[this.log.length] ?? 0, count - 1);
    this.log.push(drawn);
    return drawn;
  }

  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  /** True with that probability; never when it is 0, which takes no choice. */
  chance(probability: number): boolean {
    if (probability <= 0) return false;
    const drawn =
      this.#random === undefined ? (this.#given[this.log.length] ?? 0) : Number(this.#random.next() < probability);
    this.log.push(drawn > 0 ? 1 : 0);
    return drawn > 0;
  }

  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }
}
