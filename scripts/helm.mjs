// Finds a helm, or builds the pinned one with Go: $HELM, the PATH, the cache, Go.
//   node scripts/helm.mjs [--find]
// Prints its path. `--find` builds nothing, and ends with 1 when there is none.
import { execFile } from "node:child_process";
import { access, constants, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
const version = "v3.19.0";
const exe = process.platform === "win32" ? "helm.exe" : "helm";
const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "venturi", "bin");
const cached = join(cacheFolder, `helm-${version}${process.platform === "win32" ? ".exe" : ""}`);

/** The path of one that is here already, or undefined. */
export async function findHelm() {
  const inPath = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const places = [process.env.HELM, ...inPath.map((folder) => join(folder, exe)), cached];
  for (const path of places) if (path && (await isHelm(path))) return path;
  return undefined;
}

/** The path of one, built if need be. */
export async function helm() {
  const found = await findHelm();
  if (found !== undefined) return found;
  process.stderr.write(`building helm ${version} into ${cacheFolder} …\n`);
  await mkdir(cacheFolder, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), "venturi-helm-"));
  try {
    const env = { ...process.env, GOBIN: folder, GOFLAGS: "-trimpath -buildvcs=false" };
    await execute("go", ["install", `helm.sh/helm/v3/cmd/helm@${version}`], { env, timeout: 600_000 });
    await rename(join(folder, exe), cached);
    return cached;
  } catch (error) {
    throw new Error(`install helm 3.14 or newer; it can't be built: ${error.message}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function isHelm(path) {
  try {
    await access(path, constants.X_OK);
    const { stdout } = await execute(path, ["version", "--short"]);
    return /^v(?:3\.(?:1[4-9]|[2-9]\d)|[4-9])/.test(stdout);
  } catch {
    return false;
  }
}

if (process.argv[1] === import.meta.filename) {
  const path = process.argv.includes("--find") ? await findHelm() : await helm();
  if (path === undefined) process.exitCode = 1;
  else process.stdout.write(`${path}\n`);
}
