// The Python client's parts of npm run test:clients-own: its tests against the real service, mypy --strict, and the wheel.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const cwd = "clients/python";
const modules = "httpx, pydantic, pytest, mypy, build, hatchling";

/** The first interpreter that has what the tests need. With `install`, one is made in the cache. */
export function pythonParts({ cache, install }) {
  const venv = join(cache, "own-python");
  const own = join(venv, "bin", "python");
  const candidates = [process.env.VENTURI_PYTHON, own, "python3"].filter((path) => path !== undefined);
  let python = candidates.find(hasModules);
  if (python === undefined && install) {
    quietly("python3", ["-m", "venv", venv]);
    quietly(own, ["-m", "pip", "install", "--quiet", "-e", `${cwd}[test]`]);
    python = hasModules(own) ? own : undefined;
  }
  const missing = python === undefined ? `not here: pip install -e '${cwd}[test]', or --install` : undefined;
  return [
    { name: "python, pytest", missing, run: () => says(python, ["-m", "pytest", "-q"]) },
    { name: "python, mypy --strict", missing, run: () => says(python, ["-m", "mypy", "--strict"]) },
    { name: "python, wheel", missing, run: () => wheel(python) },
  ];
}

const hasModules = (python) => spawnSync(python, ["-c", `import ${modules}`]).status === 0;
const quietly = (program, words) => spawnSync(program, words, { stdio: ["ignore", "ignore", "inherit"] });
const env = { ...process.env, PYTHONPATH: "src", PYTHONDONTWRITEBYTECODE: "1" };
const says = (python, words) => spawnSync(python, words, { cwd, env, stdio: "inherit" }).status === 0;

/** Builds it, and imports it from the built file: typed, and complete. */
function wheel(python) {
  const folder = mkdtempSync(join(tmpdir(), "venturi-wheel-"));
  try {
    const built = spawnSync(python, ["-m", "build", "--no-isolation", "--outdir", folder], { cwd, encoding: "utf8" });
    const file = existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith(".whl")) : undefined;
    if (built.status !== 0 || file === undefined) {
      process.stderr.write(built.stdout + built.stderr);
      return false;
    }
    const check = `import sys, zipfile; path = sys.argv[1]; sys.path.insert(0, path); import venturi_client
assert venturi_client.__file__.startswith(path), venturi_client.__file__
assert "venturi_client/py.typed" in zipfile.ZipFile(path).namelist()
print(path.split("/")[-1], "is typed and can be imported")`;
    const words = ["-c", check, join(folder, file)];
    return (
      spawnSync(python, words, { cwd: folder, env: { ...process.env, PYTHONPATH: "" }, stdio: "inherit" }).status === 0
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
