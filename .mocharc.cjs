// Two workers, each file in one of them: files share nothing but this machine. The long ones go first, so that neither worker is
// left with one at the end.
//   npm test             all but the slowest, in under four minutes on two cores
//   npm run test:slow    those: whole services under kills, attacks and load, and the example programs
const { globSync } = require("node:fs");

const file = (name) => `dist/test/${name}.test.js`;
const slow = [
  "chaos/chaos",
  "client/follow",
  "client/socket",
  "edges/neighbour",
  "examples/library",
  "examples/plugins",
  "host/processes/processes",
  "plugins/shell/escape",
  "plugins/shell/repositories",
  "why/whole",
  "workers/workers",
].map(file);
const long = [
  "plugins/sqlite/contract",
  "plugins/mcp/mcp",
  "packed",
  "docs/commands",
  "cli/journal",
  "cli/operate",
  "cli/service",
  "cli/main",
  "why/why",
  "plugins/postgres/contract",
  "docs/code",
].map(file);
const wanted = (one) => slow.includes(one) === (process.env.VENTURI_TESTS === "slow");
const all = globSync("dist/test/**/*.test.js").sort().filter(wanted);

module.exports = {
  spec: [...long.filter((one) => all.includes(one)), ...all.filter((one) => !long.includes(one))],
  parallel: true,
  jobs: 2,
  timeout: 30_000,
  "node-option": ["enable-source-maps", "no-warnings=ExperimentalWarning"],
  exit: true,
};
