// Compiles with tsc and bundles the console's page. With --if-needed: only when a source is newer than the last build, and says so; types are then left to the
// tests, which halves a newcomer's wait for the first start. With --unchecked: types are not checked (mutated code has none).
// With --types: only what a type check needs, in a checkout that was never built.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { bundleProgram } from "./bundle.mjs";
import { bundleConsole } from "./bundle-console.mjs";
import { writePrices } from "./shipped-prices.mjs";

const stamp = "dist/.tsbuildinfo";
const program = "dist/src/cli/bin.js";
if (process.argv.includes("--if-needed")) {
  if (
    existsSync(stamp) &&
    newest(["src", "plugins", "config/prices.yaml", "tsconfig.json", "package.json"]) <= statSync(stamp).mtimeMs
  ) {
    process.exit(0);
  }
  process.stderr.write("building venturi …\n");
}
/** Types derived from compiled code. In a new checkout it is compiled once without them, and unchecked. */
const derived = ["src/client/venturi.api.d.ts", "src/library/plugin-options.ts"];
const unchecked = ["--if-needed", "--unchecked"].some((flag) => process.argv.includes(flag)) ? ["--noCheck"] : [];
if (unchecked.length === 0 && !derived.every((file) => existsSync(file))) {
  await compile(["--noCheck"]);
  deriveTypes();
}
if (process.argv.includes("--types")) process.exit(0);
await compile(unchecked);
if (unchecked.length === 0 && deriveTypes()) await compile([]);
// When only the page changed, tsc has left the stamp as it was.
if (existsSync(stamp)) utimesSync(stamp, new Date(), new Date());
// After the stamp: an older bundle is not used.
if (!process.argv.includes("--unchecked")) await bundleProgram();
if (unchecked.length > 0) process.exit(0);
const web = ["node_modules/typescript/bin/tsc", "-p", "plugins/channel-console/web"];
process.exit(spawnSync(process.execPath, web, { stdio: "inherit" }).status ?? 1);

async function compile(flags) {
  const { status } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", ".", ...flags], {
    stdio: "inherit",
  });
  // tsc writes declarations of its own but copies none.
  for (const name of ["client/venturi.api.d.ts", "host/money/shipped-prices.d.ts"]) {
    if (existsSync(`src/${name}`) && existsSync(dirname(`dist/src/${name}`)))
      copyFileSync(`src/${name}`, `dist/src/${name}`);
  }
  passDoors();
  // `npx venturi` in a checkout runs this very file.
  if (existsSync(program)) chmodSync(program, 0o755);
  if (status !== 0) process.exit(status ?? 1);
  await writePrices();
  await bundleConsole();
}

/** In its own process, since this one may have loaded older code; true when a type has changed. */
function deriveTypes() {
  const { status, stdout } = spawnSync(process.execPath, ["--no-warnings", "scripts/types.mjs"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) process.exit(status ?? 1);
  return stdout !== "";
}

/** Doors check what others call us with. Our own plugins are type-checked against what is behind them, and pay for none. */
function passDoors() {
  for (const file of globSync("dist/plugins/**/*.js")) {
    const code = readFileSync(file, "utf8");
    const up = relative(dirname(file), "dist/src").replaceAll("\\", "/");
    const passed = code.replaceAll(
      / from "venturi\/(internal|plugin)(?:\/(\w+))?"/g,
      (_, face, part) => ` from "${up}/${face}${part === undefined ? "" : `-${part}`}.js"`,
    );
    if (passed !== code) writeFileSync(file, passed);
  }
}

function newest(paths) {
  let time = 0;
  for (const path of paths) {
    if (!existsSync(path)) continue;
    const stats = statSync(path);
    const inner = stats.isDirectory() ? newest(readdirSync(path).map((name) => join(path, name))) : stats.mtimeMs;
    time = Math.max(time, inner);
  }
  return time;
}
