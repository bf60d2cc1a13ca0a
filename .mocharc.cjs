// Two workers, each file in one of them: files share nothing but this machine. The long ones go first, so that neither worker is
// left with one at the end.
const { globSync } = require("node:fs");

const long = [
  "chaos/chaos",
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
  "edges/neighbour",
  "plugins/shell/escape",
  "docs/code",
].map((name) => `dist/test/${name}.test.js`);
const all = globSync("dist/test/**/*.test.js").sort();

module.exports = {
  spec: [...long.filter((file) => all.includes(file)), ...all.filter((file) => !long.includes(file))],
  parallel: true,
  jobs: 2,
  timeout: 30_000,
  "node-option": ["enable-source-maps", "no-warnings=ExperimentalWarning"],
  exit: true,
};
