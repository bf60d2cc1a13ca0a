// Each file in one of four workers: files share nothing but this machine. Twice the cores it is meant for, because tests also wait
// (for processes, sockets, timers), half of their time; with three, two cores idled a fifth of it. The long ones go first, so that no worker is left with one at
// the end.
//   npm test             all but the slowest, in under four minutes on two cores
//   npm run test:slow    those: whole services under kills, attacks and load, the packed package, the example programs, and every case of the sweeps of
//                        which npm test tries a sample (test/sweep.ts)
//   npm run test:random  npm test with other cases of the property tests each time (test/seed.ts)
const { chmodSync, globSync, mkdtempSync, rmSync, statfsSync } = require("node:fs");

const file = (name) => `dist/test/${name}.test.js`;
const slow = [
  "plugins/channel-a2a/kill",
  "plugins/channel-mcp/stdio",
  "plugins/mcp/tasks-killed",
  "bench/benches",
  "bench/kept-instances",
  "chaos/chaos",
  "chaos/clicks",
  "chaos/locked",
  "cli/acp/acp-processes",
  "cli/reload",
  "client/follow",
  "client/socket",
  "edges/neighbour",
  "examples/library",
  "examples/plugins",
  "host/http/stalled",
  "host/processes/blocked-request",
  "host/processes/poison",
  "host/processes/processes",
  "host/runs/approval-elsewhere",
  "host/runs/erase-killed",
  "packed",
  "plugins/postgres/contract-pooler",
  "plugins/sqlite/contract-in-memory",
  "plugins/sqlite/contract-in-thread",
  "plugins/sqlite/contract-own-threads",
  "simulation/sqlite/contract",
  "why/whole",
  "workers/workers",
].map(file);
const sweeps = [
  "cli/fork",
  "cli/journal",
  "cli/main",
  "cli/systemd",
  "cli/wrong-words",
  "docs/code",
  "docs/commands",
  "doors/doors",
  "fuzz/seeds",
  "host/runs/cancel-elsewhere",
  "plugins/files/escape",
  "plugins/interleaved-calls",
  "plugins/shell/processes",
  "simulation/simulation",
].map(file);
// Those of more than nine seconds, the longest first.
const long = [
  "docs/commands",
  "plugins/postgres/contract",
  "simulation/contract",
  "plugins/channel-time/webhooks",
  "docs/code",
  "simulation/simulation",
  "cli/service",
  "plugins/mcp/mcp",
  "cli/journal",
  "generated",
  "plugins/sqlite/contract",
  "library/restart",
  "cli/operate",
  "host/log-level",
  "journal/clock-jumps",
  "cli/main",
].map(file);
useMemory();
// For the many programs that tests start: one that imports Venturi takes 0.5 s instead of 0.62 s. Coverage wants the sources.
if (process.env.NODE_V8_COVERAGE === undefined)
  process.env.NODE_COMPILE_CACHE ??= `${__dirname}/node_modules/.cache/compiled`;
const isSlow = process.env.VENTURI_TESTS === "slow";
const wanted = (one) => slow.includes(one) === isSlow || sweeps.includes(one);
const all = globSync("dist/test/**/*.test.js").sort().filter(wanted);

module.exports = {
  spec: [...long.filter((one) => all.includes(one)), ...all.filter((one) => !long.includes(one))],
  require: ["./dist/test/leftovers.js", "./dist/test/seed.js"],
  parallel: true,
  jobs: 4,
  // Ends a test that hangs; it is no bound on how long one may take beside others.
  timeout: 180_000,
  "node-option": ["enable-source-maps", "no-warnings=ExperimentalWarning"],
  exit: true,
};

/**
 * Files of tests are gone with them. In memory, where there is room for them, they need not wait for a disk: a commit of SQLite
 * took 10 ms on one that others used too, and the tests of its migrations and prunes 190 s, here 21 s.
 */
function useMemory() {
  const memory = "/dev/shm";
  if (process.env.TMPDIR !== undefined || process.platform !== "linux") return;
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < 4 * 1024 ** 3) return;
    const folder = mkdtempSync(`${memory}/venturi-`);
    chmodSync(folder, 0o755); // root's PostgreSQL runs as somebody else
    process.env.TMPDIR = folder;
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    process.once("SIGTERM", () => process.exit(143)); // as CI ends what takes too long
  } catch {
    // no such folder, or none of ours
  }
}
