import fc from "fast-check";

// Loaded by mocha before the tests. `npm test` draws the same cases every time; `npm run test:random` others each time, or those
// of VENTURI_SEED, and prints the seed.
const { VENTURI_SEED } = process.env;
const seed = VENTURI_SEED === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(VENTURI_SEED ?? 1);
if (VENTURI_SEED !== undefined) process.stderr.write(`property tests: VENTURI_SEED=${seed}\n`);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
