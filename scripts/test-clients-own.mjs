// Venturi's own clients against a real service: venturi/client in Node, Deno and Bun, venturi/react in Chromium, the Python
// package. A part that cannot run here is left out, and the table says what to install. Exit status 1 when a part fails, and
// with --all also when one is left out.
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pythonOf } from "./python-client.mjs";

const mocha = ["node_modules/mocha/bin/mocha.js", "--no-config", "--exit", "--timeout", "60000", "--reporter", "dot"];
const parts = [
  { name: "client, Node", run: () => node([...mocha, ...globSync("dist/test/client/*.test.js").sort()]) },
  ...["deno", "bun"].map((name) => ({
    name: `client, ${name}`,
    missing: missing([name], `npm install -g ${name}`),
    run: () => runtime(name),
  })),
  {
    name: "react, Chromium",
    missing:
      process.env.VENTURI_BROWSER === undefined
        ? missing(["chromium-headless-shell", "chromium", "google-chrome"], "apt-get install chromium-headless-shell")
        : undefined,
    run: () => node([...mocha, "dist/test/react/run-state.test.js", "dist/test/react/browser.suite.js"]),
  },
  ...pythonOf(command),
];

const rows = [];
for (const { name, missing: reason, run } of parts) {
  const begun = performance.now();
  if (reason === undefined) process.stdout.write(`\n# ${name}\n`);
  const result = reason === undefined ? (run() ? "passed" : "FAILED") : "left out";
  rows.push([name, result, reason ?? `${((performance.now() - begun) / 1000).toFixed(1)} s`]);
}
process.stdout.write(
  `\n${rows.map(([name, result, note]) => `${name.padEnd(24)} ${result.padEnd(9)} ${note}`).join("\n")}\n`,
);
const bad = process.argv.includes("--all") ? ["FAILED", "left out"] : ["FAILED"];
process.exit(rows.some(([, result]) => bad.includes(result)) ? 1 : 0);

function missing(programs, install) {
  return programs.some((program) => command(program) !== undefined) ? undefined : `not here: ${install}`;
}

function command(program) {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

function node(words) {
  return spawnSync(process.execPath, ["--no-warnings", ...words], { stdio: "inherit" }).status === 0;
}

/** The same bundle a browser would get, in another runtime, against a service that is killed on the way. */
function runtime(name) {
  return node(["dist/test/client/other-runtime.js", name]);
}
