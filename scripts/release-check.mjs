// What somebody has who installs the packages: each manager in its own folder, from the tarballs that would be published.
import { spawn, spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort, withStores } from "./release-stores.mjs";

/** What `npm install venturi` may bring. */
const most = { packages: 115, megabytes: 75 };
/** Of what the bundle has to contain. */
const kept = ["axios", "@opentelemetry/sdk-node"];
const managers = {
  npm: { tool: "npm", add: (files) => ["install", "--silent", "--no-audit", "--no-fund", ...files] },
  pnpm: { tool: "pnpm@12.18.0", add: (files) => ["add", "--silent", ...files] },
  yarn: { tool: "@yarnpkg/cli-dist@4.18.1", add: (files) => ["add", ...files.map(yarnName)] },
};
/** Yarn asks for the name before the file. */
const yarnName = (file) =>
  file.includes(".tgz")
    ? `${/venturi-(nats|postgres)-/.exec(file)?.[0].replace(/^venturi-(\w+)-$/, "@venturi/$1") ?? "venturi"}@file:${file}`
    : file;
const agents = `version: 1
providers: { demo: { type: simulator } }
tools: { calculator: { type: calculator } }
agents: { assistant: { model: demo/small, instructions: Be brief., tools: [calculator] } }
`;
const root = fileURLToPath(new URL("../", import.meta.url));
const { zod } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies;
const files = join(root, "scripts/release-files");

/** Throws at the first thing that does not work. `tarballs` are venturi, then @venturi/nats and @venturi/postgres. */
export async function checkPackages([venturi, ...plugins], home) {
  checkBundle();
  await withStores(async (stores) => {
    for (const name of Object.keys(managers)) await checkManager(name, { venturi, plugins, home, stores });
  });
}

async function checkManager(name, { venturi, plugins, home, stores }) {
  const folder = join(home, name);
  mkdirSync(folder);
  for (const file of readdirSync(files)) writeFileSync(join(folder, file), readFileSync(join(files, file)));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "mine", private: true, type: "module" }));
  if (name === "yarn") writeFileSync(join(folder, ".yarnrc.yml"), "nodeLinker: node-modules\nenableTelemetry: false\n");
  const say = (what) => process.stdout.write(`✔ ${name}: ${what}\n`);
  const run = (words, expected = {}) => runIn(folder, words, expected);
  const venturiCommand = [process.execPath, "node_modules/venturi/dist/src/cli/bin.js"];

  install(name, folder, [venturi, `zod@${zod}`]); // of a program that imports it itself
  const { packages, megabytes } = weigh(folder);
  say(`${packages} packages, ${megabytes.toFixed(1)} MB on disk (at most ${most.packages} and ${most.megabytes})`);
  if (packages > most.packages || megabytes > most.megabytes) throw new Error(`${name} installs more than it may`);

  run([join(folder, "node_modules/.bin/venturi"), "run", "assistant", "What is 17 * 23?"], {
    stdout: /391/,
    stderr: /calculator/,
  });
  say("venturi run, on the simulator, with a tool call");
  run(["program.mjs"], { stdout: /^391 mine pong 391$/m });
  say('import "venturi", "venturi/plugin", "venturi/client", "venturi/testing", "venturi/simulator"');
  checkTypes(folder);
  say("types resolve, those of Venturi checked too");
  run([...venturiCommand, "init"]);
  await checkService(folder, venturiCommand);
  say("venturi start answers, takes a run from a client, and stops");
  for (const [type, options] of [
    ["nats", "servers: ['nats://127.0.0.1:1']"],
    ["postgres", "url: 'postgres://127.0.0.1:1/x'"],
  ]) {
    writeFileSync(join(folder, `${type}.yaml`), `version: 1\njournal: { type: ${type}, ${options} }\n`);
    run([...venturiCommand, "--config", `${type}.yaml`, "validate"], {
      status: 78,
      stderr: new RegExp(`npm install @venturi/${type}`),
    });
  }
  say("a configuration with nats or postgres names the package to install");
  const grpc = { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" };
  run([...venturiCommand, "run", "assistant", "hello"], {
    env: grpc,
    status: 78,
    stderr: /npm install @opentelemetry\/exporter-trace-otlp-grpc/,
  });
  say("OTLP over gRPC names the packages to install");

  install(name, folder, plugins);
  for (const [type, options] of Object.entries(stores)) {
    writeFileSync(join(folder, `${type}.yaml`), `${agents}journal: { type: ${type}, ${options(name)} }\n`);
    const command = [...venturiCommand, "--config", `${type}.yaml`];
    run([...command, "run", "assistant", "What is 17 * 23?"], { stdout: /391/ });
    run([...command, "runs"], { stdout: /run_\w+/ });
    say(`with @venturi/${type} a run is kept in ${type}`);
  }
}

/** The packages that are used stay used, wherever they lie. */
function checkBundle() {
  const inputs = Object.values(JSON.parse(readFileSync(join(root, "dist/bundle.json"), "utf8"))).flatMap(({ inputs }) =>
    Object.keys(inputs),
  );
  for (const name of kept)
    if (!inputs.some((path) => path.includes(`node_modules/${name}/`))) throw new Error(`${name} is not in the bundle`);
}

function install(name, folder, tarballs) {
  const { tool, add } = managers[name];
  const command = name === "npm" ? ["npm"] : ["npm", "exec", "--yes", `--package=${tool}`, "--", name];
  const [program, ...words] = [...command, ...add(tarballs)];
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    cwd: folder,
    encoding: "utf8",
    timeout: 300_000,
  });
  if (status !== 0) throw new Error(`${name} can't install:\n${stdout}${stderr}${error ?? ""}`);
}

/** Packages and megabytes, as `du` counts them, venturi included. */
function weigh(folder) {
  let packages = 0;
  let blocks = 0;
  const visit = (path) => {
    const stats = lstatSync(path);
    if (stats.isSymbolicLink()) return;
    blocks += Math.ceil(stats.size / 4096);
    if (!stats.isDirectory()) return;
    if (/node_modules\/(?:@[^/]+\/)?[^./@][^/]*$/.test(path)) packages++;
    for (const name of readdirSync(path)) visit(join(path, name));
  };
  visit(join(folder, "node_modules"));
  return { packages, megabytes: blocks / 256 };
}

function checkTypes(folder) {
  const options = { target: "es2024", module: "nodenext", strict: true, noEmit: true, skipLibCheck: false };
  const types = { types: ["node"], typeRoots: [join(root, "node_modules/@types")] };
  const config = {
    compilerOptions: { ...options, ...types, lib: ["es2024", "dom", "esnext.disposable"] },
    files: ["types.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  runIn(folder, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."]);
}

async function checkService(folder, command) {
  const listen = `127.0.0.1:${await freePort()}`;
  const [program, ...words] = [...command, "start", "--quiet"];
  const service = spawn(program, words, {
    cwd: folder,
    env: { ...clean(), VENTURI_LISTEN: listen },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [service.stdout, service.stderr])
    stream.on("data", (bytes) => {
      said += bytes;
    });
  const ended = new Promise((done) => service.once("exit", done));
  try {
    for (let tries = 0; ; tries++) {
      const ready = await fetch(`http://${listen}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (ready) break;
      if (tries > 300 || service.exitCode !== null) throw new Error(`the service does not start:\n${said}`);
      await sleep(100);
    }
    runIn(folder, ["client.mjs", `http://${listen}`], { stdout: /391/ });
    const page = await fetch(`http://${listen}/console/`);
    if (!page.ok) throw new Error(`the console answers ${page.status}`);
  } finally {
    service.kill("SIGTERM");
    await Promise.race([ended, sleep(20_000)]);
    if (service.exitCode === null) service.kill("SIGKILL");
  }
  if (service.exitCode !== 0) throw new Error(`the service ended with ${service.exitCode}:\n${said}`);
}

function runIn(folder, words, { status = 0, stdout, stderr, env = {} } = {}) {
  const [program, ...rest] =
    words[0] === process.execPath || words[0].includes("/.bin/") ? words : [process.execPath, ...words];
  const result = spawnSync(program, rest, {
    cwd: folder,
    encoding: "utf8",
    timeout: 120_000,
    env: { ...clean(), ...env },
  });
  const isRight =
    result.status === status && (stdout?.test(result.stdout) ?? true) && (stderr?.test(result.stderr) ?? true);
  if (isRight) return;
  const wanted = `expected ${[status, stdout, stderr].filter((each) => each !== undefined).join(" ")}`;
  throw new Error(
    `${words.join(" ")} ended with ${result.status}, ${wanted}\n${result.stdout}${result.stderr}${result.error ?? ""}`,
  );
}

/** Without keys, and without what npm tells its scripts. */
const clean = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:npm_|OTEL_|VENTURI_|NODE_OPTIONS)|_API_KEY$/.test(name)),
  );
