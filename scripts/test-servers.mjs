// Venturi in front of real servers: installs each (pip, npm) into a cache outside the repository, starts it, asks it over every
// wire that it speaks, prints a table and fails on any red. What cannot be installed here is skipped, with the reason.
//   npm run test:servers -- [NAME…]     only those whose name contains one of these
//   VENTURI_SERVERS=FOLDER              where they are installed; ~/.cache/venturi-servers when absent
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { startSimulator } from "../dist/plugins/simulator/server.js";
import { checks } from "../test/servers/checks.mjs";
import { servers } from "../test/servers/servers.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const cache = process.env.VENTURI_SERVERS ?? join(homedir(), ".cache", "venturi-servers");
const wanted = process.argv.slice(2).map((part) => part.toLowerCase());
const chosen = servers.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.toLowerCase().includes(part)),
);
const venv = join(cache, "venv");
const node = join(cache, "node");
process.env.PATH = [join(cache, "bin"), process.env.PATH].join(delimiter);
const folder = mkdtempSync(join(tmpdir(), "venturi-servers-"));
const simulator = await startSimulator({ keep: 0 });
const running = [];
const rows = [];
try {
  for (const server of chosen) rows.push(...(await tryServer(server)));
} finally {
  for (const stop of running.splice(0).reverse()) stop();
  await simulator.close();
  rmSync(folder, { recursive: true, force: true });
}
const width = Math.max(...rows.map(({ name }) => name.length));
console.log(`\n${"server".padEnd(width)}  ${"spoken to over".padEnd(15)}  ${"check".padEnd(7)}  result`);
for (const { name, wire, check, result } of rows) {
  console.log(`${name.padEnd(width)}  ${wire.padEnd(15)}  ${check.padEnd(7)}  ${result}`);
}
const failed = rows.filter(({ result }) => result.startsWith("FAILED")).length;
const skipped = rows.filter(({ result }) => result.startsWith("skipped")).length;
console.log(`\n${rows.length - failed - skipped} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed > 0 ? 1 : 0);

async function tryServer(server) {
  const row = { name: server.name, wire: "", check: "" };
  const missing = install(server);
  if (missing !== undefined) return [{ ...row, result: `skipped: ${missing}` }];
  const port = await freePort();
  const python = join(venv, "bin", "python");
  const launch = (command, args, path, options = {}) =>
    launched({ command, args, options, url: `http://127.0.0.1:${port}`, path });
  const place = { bin: join(venv, "bin"), python, node, root, folder, port, simulator: simulator.url, launch };
  const before = running.length;
  try {
    await server.start(place);
    const providers = Object.entries(server.providers(`http://127.0.0.1:${port}`));
    const venturi = await startVenturi(providers, server.limit);
    const results = [];
    for (const [index, [wire, { checks: own }]] of providers.entries()) {
      for (const check of [...(own ?? server.checks), ...(server.embeds?.includes(wire) ? ["embed"] : [])]) {
        const result = await checks[check](venturi, `a${index}`).then(
          () => "ok",
          (error) => `FAILED: ${String(error?.message ?? error).slice(0, 160)}`,
        );
        results.push({ ...row, wire, check, result });
      }
    }
    return results;
  } catch (error) {
    return [{ ...row, result: `FAILED to start: ${String(error?.message ?? error).slice(-300)}` }];
  } finally {
    for (const stop of running.splice(before).reverse()) stop();
  }
}

/** For each wire an agent that streams, one that does not, one with a tool, and one with a limit of five tokens. */
async function startVenturi(providers, limit) {
  const lines = { providers: [], models: [], agents: [] };
  for (const [index, [, { provider, model }]] of providers.entries()) {
    const options = limit === undefined ? "{}" : `{ maxTokens: ${limit} }`;
    lines.providers.push(`  p${index}: ${provider}`, `  w${index}: ${provider.replace(/ }$/, ", stream: false }")}`);
    lines.models.push(`  m${index}: { chain: ["p${index}/${model}"], options: ${options}, retry: { max: 0 } }`);
    lines.models.push(`  mw${index}: { chain: ["w${index}/${model}"], options: ${options}, retry: { max: 0 } }`);
    lines.models.push(`  ml${index}: { chain: ["p${index}/${model}"], options: { maxTokens: 5 }, retry: { max: 0 } }`);
    lines.agents.push(`  a${index}: { model: m${index} }`, `  a${index}-whole: { model: mw${index} }`);
    lines.agents.push(
      `  a${index}-tool: { model: m${index}, tools: [calculator] }`,
      `  a${index}-limit: { model: ml${index} }`,
    );
  }
  const config = join(folder, `venturi-${running.length}.yaml`);
  writeFileSync(
    config,
    `version: 1
providers:
${lines.providers.join("\n")}
models:
${lines.models.join("\n")}
tools: { calculator: { type: calculator } }
agents:
${lines.agents.join("\n")}
journal: { type: memory }
channels: { http: {}, openai: {} }
server: { listen: "127.0.0.1:0" }
telemetry: { logs: { level: info } } # the address is in the log
`,
  );
  const child = started(
    process.execPath,
    ["--no-warnings", join(root, "dist/src/cli/bin.js"), "start", "--config", config],
    {},
  );
  return new Promise((found, failed) => {
    const look = () => {
      const match = /http:\/\/127\.0\.0\.1:\d+/.exec(child.said());
      if (match !== null) found(match[0]);
    };
    child.process.stdout.on("data", look);
    child.process.stderr.on("data", look);
    child.process.on("exit", (code) => failed(new Error(`venturi ended with ${code}: ${child.said().slice(-600)}`)));
  });
}

/** Why the server cannot be had here; undefined when it can. */
function install({ python, node: packages, command, hint }) {
  if (command !== undefined && spawnSync(command, ["--version"]).error !== undefined)
    return `${command} is not installed; ${hint}`;
  if (python !== undefined) {
    if (!existsSync(join(venv, "bin", "python"))) {
      const made = spawnSync("python3", ["-m", "venv", venv], { encoding: "utf8" });
      if (made.status !== 0) return `python3 -m venv: ${reason(made)}`;
    }
    const args = ["-m", "pip", "install", "--quiet", "--only-binary", ":all:", ...python];
    const done = spawnSync(join(venv, "bin", "python"), args, { encoding: "utf8" });
    if (done.status !== 0) return `pip install ${python.join(" ")}: ${reason(done)}`;
  }
  if (packages !== undefined) {
    mkdirSync(node, { recursive: true });
    if (!existsSync(join(node, "package.json"))) writeFileSync(join(node, "package.json"), '{"private":true}');
    const done = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--prefix", node, ...packages], {
      encoding: "utf8",
    });
    if (done.status !== 0) return `npm install ${packages.join(" ")}: ${reason(done)}`;
  }
  return undefined;
}

function reason({ stderr, error }) {
  const lines = (stderr ?? "").trim().split("\n");
  return (error?.message ?? lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? "").slice(0, 200);
}

async function launched({ command, args, options, url, path }) {
  const child = started(command, args, options);
  let ended;
  child.process.on("exit", (code) => {
    ended = code ?? "a signal";
  });
  // LiteLLM takes a minute to import itself on a busy machine.
  for (const end = performance.now() + 180_000; performance.now() < end; ) {
    if (ended !== undefined) throw new Error(`it ended with ${ended}: ${child.said().slice(-600)}`);
    const answered = await fetch(url + path).catch(() => undefined);
    if (answered !== undefined && answered.status < 500) return url;
    await new Promise((next) => setTimeout(next, 250));
  }
  throw new Error(`it did not answer within three minutes: ${child.said().slice(-600)}`);
}

function started(command, args, { env = {}, cwd = folder }) {
  const paths = [join(venv, "bin"), process.env.PATH].join(delimiter);
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PATH: paths, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (piece) => {
      said = (said + piece).slice(-20_000);
    });
  }
  child.on("error", (error) => {
    said += error.message;
  });
  running.push(() => child.kill("SIGKILL"));
  return { process: child, said: () => said };
}

function freePort() {
  return new Promise((found) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => found(port));
    });
  });
}
