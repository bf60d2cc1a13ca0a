// Real clients in their default settings against the real service on the simulator. Installs them (pip, npm, Maven, Go, Cargo) into
// a cache outside the repository, runs each against agents on several wires, prints a table and fails on any red. What lacks its
// toolchain is skipped and named.
//   npm run test:clients -- [NAME…]     only those whose name contains one of these; --kind KIND for those of a language
//   --install                           only installs and builds them, and fails when that is not possible
//   VENTURI_CLIENTS=FOLDER              where they are installed; ~/.cache/venturi-clients when absent
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildGo, buildJava, buildRust } from "../test/clients/build.mjs";
import { clients } from "../test/clients/clients.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const cache = process.env.VENTURI_CLIENTS ?? join(homedir(), ".cache", "venturi-clients");
const given = process.argv.slice(2);
const kinds = given.flatMap((word, index) => (given[index - 1] === "--kind" ? [word] : []));
const wanted = given.filter((word) => !word.startsWith("--") && !kinds.includes(word));
const chosen = clients.filter(
  ({ name, kind }) =>
    (wanted.length === 0 || wanted.some((part) => name.includes(part))) && (kinds.length === 0 || kinds.includes(kind)),
);
if (chosen.length === 0) throw new Error(`no client is called ${given.join(" ")}`);

const builders = { java: buildJava, go: buildGo, rust: buildRust };
const installed = {};
/** Where a client is installed: a place of the cache that clients of its language share, or that it has for itself. */
const placeOf = ({ kind, place = kind }) => place;
for (const client of chosen) {
  const { kind } = client;
  const place = placeOf(client);
  if (kind === "python") installed[place] ??= installPython(place);
  else if (kind === "node") installed[place] ??= installNode(place);
  else if (kind in builders) installed[kind] ??= builders[kind](join(cache, kind));
}
if (given.includes("--install")) {
  const missing = Object.entries(installed).flatMap(([place, { missing }]) =>
    missing ? [`${place}: ${missing}`] : [],
  );
  for (const line of missing) console.log(line);
  process.exit(missing.length > 0 ? 1 : 0);
}
const folder = mkdtempSync(join(tmpdir(), "venturi-clients-"));
const service = await startService(folder);
const rows = [];
try {
  for (const client of chosen) {
    for (const model of client.models) rows.push(await runClient(client, model));
  }
} finally {
  service.stop();
  rmSync(folder, { recursive: true, force: true });
}
const width = Math.max(...rows.map(({ name }) => name.length));
console.log(`\n${"client".padEnd(width)}  ${"version".padEnd(10)}  ${"agent".padEnd(10)}  result`);
for (const { name, version, model, result, ms } of rows) {
  console.log(`${name.padEnd(width)}  ${version.padEnd(10)}  ${model.padEnd(10)}  ${result}${ms ? ` (${ms} ms)` : ""}`);
}
const failed = rows.filter(({ result }) => result === "FAILED").length;
const skipped = rows.filter(({ result }) => result.startsWith("skipped")).length;
console.log(`\n${rows.length - failed - skipped} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed > 0 ? 1 : 0);

/** The interpreter of a virtual environment that has all packages, or why there is none. */
function installPython(name) {
  const packages = packagesIn(name);
  const venv = join(cache, name);
  const python = join(venv, "bin", "python");
  if (!existsSync(python)) {
    const made = spawnSync("python3", ["-m", "venv", venv], { encoding: "utf8" });
    if (made.status !== 0) return { missing: `python3 -m venv: ${reason(made)}` };
  }
  return once(join(venv, "installed.json"), packages, { python }, () =>
    spawnSync(python, ["-m", "pip", "install", "--quiet", "--upgrade", ...packages], { encoding: "utf8" }),
  );
}

function packagesIn(place) {
  return chosen.filter((client) => placeOf(client) === place).flatMap((client) => client.packages);
}

function installNode(name) {
  const packages = packagesIn(name);
  const folder = join(cache, name);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "package.json"))) writeFileSync(join(folder, "package.json"), '{"private":true}');
  return once(join(folder, "installed.json"), packages, { folder }, () =>
    spawnSync("npm", ["install", "--no-audit", "--no-fund", "--prefix", folder, ...packages], { encoding: "utf8" }),
  );
}

/** Installs unless the same packages were installed before; remove the cache to get newer ones. */
function once(note, packages, found, install) {
  const wanted = JSON.stringify([...new Set(packages)].sort());
  const known = existsSync(note) ? JSON.parse(readFileSync(note, "utf8")) : [];
  const missing = JSON.parse(wanted).filter((name) => !known.includes(name));
  if (missing.length === 0) return found;
  console.log(`installing ${missing.join(" ")}`);
  const done = install();
  if (done.status !== 0) return { missing: reason(done) };
  writeFileSync(note, JSON.stringify([...new Set([...known, ...missing])]));
  return found;
}

function reason({ stderr, error }) {
  const lines = (stderr ?? "").trim().split("\n");
  return (error?.message ?? lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? "").slice(0, 200);
}

async function startService(folder) {
  const config = join(folder, "venturi.yaml");
  writeFileSync(config, readFileSync(join(root, "test/clients/venturi.yaml"), "utf8").replaceAll("{{root}}", root));
  const child = spawn(
    process.execPath,
    ["--no-warnings", join(root, "dist/src/cli/bin.js"), "start", "--config", config],
    {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const url = await new Promise((found, failed) => {
    let said = "";
    const look = (chunk) => {
      said += chunk;
      const match = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (match !== null) found(match[0]);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.on("exit", (code) => failed(new Error(`the service ended with ${code}:\n${said}`)));
  });
  return { url, stop: () => child.kill("SIGTERM") };
}

async function runClient(client, model) {
  const { python, folder, missing, commandOf } = installed[placeOf(client)];
  const row = { name: client.name, version: "", model };
  if (missing !== undefined) return { ...row, result: `skipped: cannot install (${missing})` };
  const env = {
    PATH: [join(cache, placeOf(client), "node_modules", ".bin"), dirname(process.execPath), process.env.PATH].join(
      delimiter,
    ),
    HOME: process.env.HOME ?? homedir(),
    MODEL: model,
    PARALLEL_MODEL: `${model}-parallel`,
    VENTURI_URL: service.url,
    OPENAI_BASE_URL: `${service.url}/openai/v1`,
    OPENAI_API_KEY: "none",
    ANTHROPIC_BASE_URL: `${service.url}/anthropic`,
    ANTHROPIC_API_KEY: "none",
    ...client.env,
  };
  const version = versionOf(client);
  const [command, ...args] = commandOf?.(client.script) ?? [python ?? process.execPath, placed(client.script, folder)];
  const started = performance.now();
  const { status, output } = await run(command, args, env);
  const ms = Math.round(performance.now() - started);
  if (status === 0) return { ...row, version, result: "ok", ms };
  console.error(`\n--- ${client.name} on ${model}\n${output.trim().split("\n").slice(-25).join("\n")}`);
  return { ...row, version, result: "FAILED", ms };
}

/** A module is looked for beside the script that names it, so a script of Node's goes where its packages are. */
function placed(name, folder) {
  const script = join(root, "test/clients", name);
  if (folder === undefined) return script;
  writeFileSync(join(folder, name), readFileSync(script));
  return join(folder, name);
}

function run(command, args, env) {
  return new Promise((done) => {
    const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"], cwd: tmpdir() });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    const late = setTimeout(() => child.kill("SIGKILL"), 300_000);
    child.on("close", (status) => {
      clearTimeout(late);
      done({ status, output });
    });
  });
}

function versionOf(client) {
  const { kind, packages: [first] = [], version } = client;
  if (version !== undefined) return version;
  const name = first.replace(/\[.*\]|[<>=~!].*$/g, "");
  if (kind === "node") {
    const file = join(cache, placeOf(client), "node_modules", name, "package.json");
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : "";
  }
  const code = `import importlib.metadata as m; print(m.version("${name}"))`;
  return spawnSync(installed[placeOf(client)].python, ["-c", code], { encoding: "utf8" }).stdout.trim();
}
