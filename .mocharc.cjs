// Two workers, each file in one of them: files share nothing but this machine. The long ones go first, so that neither worker is
// left with one at the end.
//   npm test             all but the slowest, in under four minutes on two cores
//   npm run test:slow    those: whole services under kills, attacks and load, the packed package, the example programs, and every case of the sweeps of
//                        which npm test tries a sample (test/sweep.ts)
//   npm run test:random  npm test with other cases of the property tests each time (test/seed.ts)
const { globSync } = require("node:fs");

const file = (name) => `dist/test/${name}.test.js`;
const slow = [
  "plugins/channel-a2a/kill",
  "plugins/channel-mcp/stdio",
  "bench/benches",
  "chaos/chaos",
  "cli/acp/acp-processes",
  "cli/reload",
  "client/follow",
  "client/socket",
  "edges/neighbour",
  "examples/library",
  "examples/plugins",
  "host/processes/blocked-request",
  "host/processes/poison",
  "host/processes/processes",
  "packed",
  "plugins/postgres/contract-pooler",
  "plugins/sqlite/contract-in-memory",
  "simulation/sqlite/contract",
  "why/whole",
  "workers/workers",
].map(file);
const sweeps = ["fuzz/seeds", "plugins/shell/processes"].map(file);
const long = [
  "plugins/sqlite/contract",
  "plugins/mcp/mcp",
  "docs/commands",
  "cli/journal",
  "cli/operate",
  "cli/service",
  "cli/main",
  "why/why",
  "plugins/postgres/contract",
  "docs/code",
].map(file);
const isSlow = process.env.VENTURI_TESTS === "slow";
const wanted = (one) => slow.includes(one) === isSlow || sweeps.includes(one);
const all = globSync("dist/test/**/*.test.js").sort().filter(wanted);

module.exports = {
  spec: [...long.filter((one) => all.includes(one)), ...all.filter((one) => !long.includes(one))],
  require: ["./dist/test/seed.js"],
  parallel: true,
  jobs: 2,
  // Ends a test that hangs; it is no bound on how long one may take beside others.
  timeout: 180_000,
  "node-option": ["enable-source-maps", "no-warnings=ExperimentalWarning"],
  exit: true,
};
