// Venturi's own clients against a real service: venturi/client in Node, Deno and Bun, venturi/react in Chromium, the Python
// package. A part that cannot run here is left out, and the table says what to install. Exit status 1 when a part fails.
//   npm run test:clients-own -- [NAME…]     only parts whose name contains one of these
//   --install                               fetches Deno, Bun and Python packages into ~/.cache/venturi-clients (VENTURI_CLIENTS)
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { pythonParts } from "./python-client.mjs";

const install = process.argv.includes("--install");
const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const cache = process.env.VENTURI_CLIENTS ?? join(homedir(), ".cache", "venturi-clients");
const runtimes = join(cache, "runtimes");
process.env.PATH += delimiter + join(runtimes, "node_modules", ".bin");
if (install) installRuntimes();

const mocha = ["node_modules/mocha/bin/mocha.js", "--no-config", "--exit", "--timeout", "60000"];
const browsers = ["chromium-headless-shell", "chromium", "google-chrome"];
const isBrowserGiven = process.env.VENTURI_BROWSER !== undefined;
const parts = [
  { name: "client, node", run: () => node([...mocha, ...globSync("dist/test/client/*.test.js").sort()]) },
  ...["deno", "bun"].map((name) => ({
    name: `client, ${name}`,
    missing: missing([name], `npm install -g ${name}, or --install`),
    // The bundle that a browser would get, against a service that is killed on the way.
    run: () => node(["dist/test/client/other-runtime.js", name]),
  })),
  {
    name: "react, chromium",
    missing: isBrowserGiven ? undefined : missing(browsers, "apt-get install chromium-headless-shell"),
    run: () => node([...mocha, "dist/test/react/run-state.test.js", "dist/test/react/browser.suite.js"]),
  },
  ...pythonParts({ cache, install }),
];

const rows = [];
for (const { name, missing: reason, run } of parts) {
  if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) continue;
  const begun = performance.now();
  if (reason === undefined) process.stdout.write(`\n# ${name}\n`);
  const result = reason === undefined ? (run() ? "passed" : "FAILED") : "left out";
  rows.push([name, result, reason ?? `${((performance.now() - begun) / 1000).toFixed(1)} s`]);
}
process.stdout.write(
  `\n${rows.map(([name, result, note]) => `${name.padEnd(22)} ${result.padEnd(9)} ${note}\n`).join("")}`,
);
process.exit(rows.some(([, result]) => result === "FAILED") ? 1 : 0);

function missing(programs, how) {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const isHere = programs.some((program) => folders.some((folder) => existsSync(join(folder, program))));
  return isHere ? undefined : `not here: ${how}`;
}

function installRuntimes() {
  mkdirSync(runtimes, { recursive: true });
  if (!existsSync(join(runtimes, "package.json"))) writeFileSync(join(runtimes, "package.json"), '{"private":true}');
  const words = ["install", "--no-audit", "--no-fund", "--prefix", runtimes, "deno@2.9.6", "bun@1.4.4"];
  spawnSync("npm", words, { stdio: ["ignore", "ignore", "inherit"] });
}

function node(words) {
  return spawnSync(process.execPath, ["--no-warnings", ...words], { stdio: "inherit" }).status === 0;
}
