import module from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, Script } from "node:vm";

// An `import` of it loads fs/promises too, which takes 4 ms.
const { closeSync, fstatSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } =
  process.getBuiltinModule("node:fs");

const dist = new URL("../../", import.meta.url);
const bundle = new URL("bundle/", dist);
/** A service keeps the code of its first seconds: V8 drops what has not run for a while. */
const keptAfter = 5_000;
const renewedAfter = 24 * 3_600_000;
const longestName = 200;

type Modules = Readonly<Record<string, () => unknown>>;
let modules: Modules | undefined;

/** A module of the program, which is one script: of ES modules V8 could keep only the code of functions that were never called. */
export function fromProgram(name: string): unknown {
  modules ??= loadProgram();
  return modules[name]?.();
}

function loadProgram(): Modules {
  const name = readdirSync(bundle).find((file) => /^program-\w+\.cjs$/.test(file)) ?? "program.cjs";
  const file = new URL(name, bundle);
  const path = fileURLToPath(file);
  const kept = codeFile(name);
  const code = kept === undefined ? undefined : readCode(kept);
  // It is ASCII, and read as such it is one string outside of V8's heap.
  const script = new Script(readFileSync(path, "latin1"), {
    filename: file.href,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(code === undefined ? {} : { cachedData: code.data }),
  });
  const isUsed = script.cachedDataRejected === false;
  if (kept !== undefined) keepCode(script, kept, isUsed ? code?.age : undefined);
  const exported: { exports: Modules } = { exports: {} };
  const load = (url: string) => exported.exports[url.slice(dist.href.length).replaceAll("/", ".")]?.() ?? import(url);
  const others = module.createRequire(file);
  // Node's own modules past the hooks, which take 0.2 ms each.
  const require = Object.assign((id: string) => process.getBuiltinModule(id) ?? others(id), others);
  script.runInThisContext()(exported, require, path, dirname(path), file.href, load);
  return exported.exports;
}

/** Where Node keeps compiled modules, a file for each command and options of Node's: with others V8 refuses the code. */
function codeFile(program: string): string | undefined {
  const folder = module.getCompileCacheDir();
  const [, , command = ""] = process.argv;
  const options = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join("").replaceAll(/[^\w=-]/g, "_");
  const name = `${program}-${/^[a-z]+$/.test(command) ? command : "other"}${options}`;
  return folder === undefined ? undefined : join(folder, name.slice(0, longestName));
}

/** Only if this user or root wrote it: it is code, and the folder may lie in /tmp. */
function readCode(path: string): { readonly data: Buffer; readonly age: number } | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    const { uid, mtimeMs } = fstatSync(fd);
    return [0, process.getuid?.()].includes(uid) ? { data: readFileSync(fd), age: Date.now() - mtimeMs } : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** What was compiled after some seconds or by a good end is what the command needs; once a day, since the first call may have had little to do. */
function keepCode(script: Script, path: string, age: number | undefined): void {
  if (process.argv.some((word) => /^(?:-h|--help|help)$/.test(word)) || (age !== undefined && age < renewedAfter))
    return;
  const keep = () => {
    clearTimeout(timer);
    process.off("exit", atExit);
    const draft = `${path}.${process.pid}`;
    try {
      mkdirSync(dirname(path), { recursive: true });
      // First, since collecting the code takes 30 to 90 ms.
      writeFileSync(draft, "", { flag: "wx", mode: 0o644 });
      // On the disk before it has its name: V8 does not notice that a byte of it is wrong.
      writeFileSync(draft, script.createCachedData(), { flush: true });
      renameSync(draft, path);
    } catch {
      rmSync(draft, { force: true }); // The next start is only slower.
    }
  };
  const atExit = (status: number) => status === 0 && keep();
  const timer = setTimeout(keep, keptAfter).unref();
  process.on("exit", atExit);
}
