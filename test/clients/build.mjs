// The clients of languages that are compiled: copied to a folder of the cache, built there once, and again when they change.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
/** A first build fetches and compiles the world. */
const patience = 20 * 60_000;

export function buildJava(folder) {
  const build = [["mvn", "-q", "-B", "package", "dependency:build-classpath", "-Dmdep.outputFile=classpath.txt"]];
  return built("java", folder, build, (script) => {
    const path = readFileSync(join(folder, "classpath.txt"), "utf8").trim();
    return ["java", "-cp", `${join(folder, "target/classes")}:${path}`, script];
  });
}

export const buildGo = (folder) =>
  built("go", folder, [["go", "build", "-o", "bin/", "./..."]], (script) => [join(folder, "bin", script)]);

export const buildRust = (folder) =>
  built("rust", folder, [["cargo", "build", "--quiet"]], (script) => [join(folder, "target/debug", script)]);

function built(kind, folder, commands, commandOf) {
  const sources = globSync("**/*.{java,xml,go,mod,sum,rs,toml,lock}", { cwd: join(here, kind) }).sort();
  const now = sources.map((name) => `${name}\n${readFileSync(join(here, kind, name), "utf8")}`).join("\n");
  const note = join(folder, "built.txt");
  if (existsSync(note) && readFileSync(note, "utf8") === now) return { commandOf };
  console.log(`building test/clients/${kind}`);
  mkdirSync(folder, { recursive: true });
  rmSync(join(folder, "src"), { recursive: true, force: true });
  cpSync(join(here, kind), folder, { recursive: true });
  for (const [command, ...args] of commands) {
    const done = spawnSync(command, args, { cwd: folder, encoding: "utf8", timeout: patience });
    if (done.status === 0) continue;
    const said = `${done.stdout ?? ""}${done.stderr ?? ""}`.trim();
    // Without the toolchain, or the network to fetch with, a client cannot be tried; one that does not compile is ours to fix.
    const isOurs =
      done.error === undefined &&
      /\berror\b.*(COMPILATION|could not compile)|main\.go:\d+|COMPILATION ERROR/s.test(said);
    if (isOurs) throw new Error(`test/clients/${kind} does not compile:\n${said.slice(-4000)}`);
    return { missing: (done.error?.message ?? said.split("\n").at(-1) ?? "").slice(0, 200) };
  }
  writeFileSync(note, now);
  return { commandOf };
}
