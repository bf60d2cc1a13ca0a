import { createHash } from "node:crypto";

/** Random numbers in [0, 1), determined by the seed (mulberry32). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** 24 hex digits derived from the seed and the request's text. */
export const digest = (seed: number, words: string): string =>
  createHash("sha1").update(`${seed}\n`).update(words).digest("hex").slice(0, 24);

export const seedOf = (digits: string): number => Number.parseInt(digits.slice(0, 8), 16);
