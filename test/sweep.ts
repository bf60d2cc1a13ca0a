/** `npm run test:slow` tries every case of a sweep, `npm test` every nth. */
export const isSlow = process.env.VENTURI_TESTS === "slow";

export const sampled = <Case>(cases: Iterable<Case>, every: number): Case[] =>
  [...cases].filter((_, index) => isSlow || index % every === 0);
