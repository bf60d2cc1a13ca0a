// The programs that `npm run test:backends` starts: Jaeger and the collector from the PATH, the cache, or built with Go into it;
// Zipkin's jar from Maven; Phoenix from PyPI into a virtual environment. All of it once, into the cache.
//   node scripts/trace-binaries.mjs    gets Jaeger and the collector and prints where they are; exits with 1 when they can't be had
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { access, constants, cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
const manifest = new URL("otelcol-manifest.yaml", import.meta.url).pathname;
const builder = "go.opentelemetry.io/collector/cmd/builder@v0.155.0";

// Jaeger's v2 tags are no Go versions, and a module proxy has no commits of its own choice. v2.13.0 is the last release that
// was also tagged as v1 (v1.76.0), so every proxy has it.
const jaegerModule = "github.com/jaegertracing/jaeger";
const release = "v2.13.0";
const reference = "v1.76.0";

export const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "venturi", "bin");

const zipkinVersion = "3.6.1";
const maven = "https://repo1.maven.org/maven2/io/zipkin/zipkin-server";
const phoenixVersion = "20.26.1";

/** Paths of both, or an error whose message says what to install. */
export async function traceBinaries({ fetch = true } = {}) {
  await mkdir(cacheFolder, { recursive: true });
  return { jaeger: await jaeger(fetch), otelcol: await otelcol(fetch) };
}

/** Zipkin's server as one jar, checked against the checksum that Maven states. */
export async function zipkinJar({ fetch: mayFetch = true } = {}) {
  if ((await onPath("java")) === undefined) throw new Error("no java: apt-get install default-jre-headless");
  const cached = join(cacheFolder, `zipkin-server-${zipkinVersion}-exec.jar`);
  if (await exists(cached)) return cached;
  if (!mayFetch) throw new Error(`no ${cached}`);
  await mkdir(cacheFolder, { recursive: true });
  const url = `${maven}/${zipkinVersion}/zipkin-server-${zipkinVersion}-exec.jar`;
  say(`fetching ${url} …`);
  const [jar, checksum] = await Promise.all([bytesOf(url), bytesOf(`${url}.sha1`)]);
  const sum = createHash("sha1").update(jar).digest("hex");
  if (sum !== checksum.toString("utf8").trim().slice(0, 40)) throw new Error(`${url} is not what its checksum says`);
  await writeFile(`${cached}.new`, jar);
  await rename(`${cached}.new`, cached);
  return cached;
}

async function bytesOf(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Arize Phoenix: from the PATH, or in a virtual environment of the cache. */
export async function phoenix({ fetch: mayFetch = true } = {}) {
  const found = await onPath("phoenix");
  if (found !== undefined) return found;
  const home = join(cacheFolder, "..", "phoenix");
  const cached = join(home, "bin", "phoenix");
  if (await runnable(cached)) return cached;
  if (!mayFetch) throw new Error(`no ${cached}`);
  if ((await onPath("python3")) === undefined) throw new Error("no python3, and no phoenix on the PATH");
  say(`installing arize-phoenix ${phoenixVersion} into ${home} …`);
  await run("python3", ["-m", "venv", home], tmpdir());
  await run(join(home, "bin", "pip"), ["install", "--quiet", `arize-phoenix==${phoenixVersion}`], tmpdir());
  return cached;
}

async function jaeger(mayBuild) {
  const found = await onPath("jaeger");
  if (found !== undefined) return found;
  const cached = join(cacheFolder, `jaeger-${release}`);
  if (await runnable(cached)) return cached;
  await needGo("jaeger", mayBuild);
  try {
    await inFolder(async (folder) => buildJaeger(folder, reference, cached));
    return cached;
  } catch (error) {
    say(`jaeger ${release} can't be built here: ${reason(error)}`);
  }
  throw new Error("no Jaeger v2 could be built; put a `jaeger` on the PATH (jaegertracing.io/download)");
}

/** In a copy of the module rather than by `go install`, which refuses modules with replace directives. */
async function buildJaeger(folder, reference, target) {
  say(`building jaeger from ${jaegerModule}@${reference} into ${cacheFolder} …`);
  const { stdout } = await execute("go", ["mod", "download", "-json", `${jaegerModule}@${reference}`], { cwd: folder });
  const source = join(folder, "source");
  await cp(JSON.parse(stdout).Dir, source, { recursive: true });
  await run("chmod", ["-R", "u+w", source], folder);
  await run("go", ["build", "-o", join(folder, "jaeger"), "./cmd/jaeger"], source);
  await moved(join(folder, "jaeger"), target);
}

async function otelcol(mayBuild) {
  const found = await onPath("otelcol");
  if (found !== undefined) return found;
  const version = createHash("sha256")
    .update(builder)
    .update(await readFile(manifest))
    .digest("hex")
    .slice(0, 12);
  const cached = join(cacheFolder, `otelcol-${version}`);
  if (await runnable(cached)) return cached;
  await needGo("otelcol", mayBuild);
  await inFolder(async (folder) => {
    say(`building the collector with ${builder} into ${cacheFolder} …`);
    await cp(manifest, join(folder, "builder.yaml"));
    await run("go", ["run", builder, "--config", "builder.yaml"], folder);
    await moved(join(folder, "out", "otelcol"), cached);
  });
  return cached;
}

async function needGo(wanted, mayBuild) {
  if (!mayBuild) throw new Error(`no ${wanted}, neither on the PATH nor in ${cacheFolder}`);
  if ((await onPath("go")) !== undefined) return;
  throw new Error(`install ${wanted} (jaeger v2 and otelcol on the PATH), or Go 1.26 or newer to build it`);
}

export async function onPath(name) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    if (folder !== "" && (await runnable(join(folder, name)))) return join(folder, name);
  }
  return undefined;
}

const exists = (path) => isThere(path, constants.R_OK);
const runnable = (path) => isThere(path, constants.X_OK);

const isThere = (path, mode) =>
  access(path, mode).then(
    () => true,
    () => false,
  );

/** Into its place at once, so that a build that is cut short leaves nothing that looks like a binary. */
async function moved(from, to) {
  await cp(from, `${to}.new`);
  await rename(`${to}.new`, to);
}

const folders = new Set();

async function inFolder(work) {
  const folder = await mkdtemp(join(tmpdir(), "venturi-build-"));
  folders.add(folder);
  try {
    await work(folder);
  } finally {
    await run("chmod", ["-R", "u+w", folder], tmpdir());
    await rm(folder, { recursive: true, force: true });
    folders.delete(folder);
  }
}

function run(command, parameters, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn("nice", ["-n", "10", command, ...parameters], { cwd, stdio: ["ignore", "ignore", "pipe"] });
    let errors = "";
    child.stderr.on("data", (data) => {
      errors = (errors + data).slice(-4096);
    });
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(errors || `${command} ended with ${code}`)),
    );
  });
}

const say = (text) => process.stderr.write(`${text}\n`);

/** `go mod download -json` tells its error as JSON on stdout. */
function reason(error) {
  const message = /"Error": "([^"]*)/.exec(error.stdout ?? "")?.[1] ?? error.message;
  return message.replaceAll("\\n\\t", " ").trim().split("\n").slice(-3).join(" ");
}

if (import.meta.main) {
  process.once("SIGTERM", () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    process.exit(143);
  });
  try {
    console.log(Object.values(await traceBinaries()).join("\n"));
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
