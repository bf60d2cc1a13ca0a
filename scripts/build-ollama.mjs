// Builds Ollama from Go's registry, for `npm run test:servers` where it is not installed: node scripts/build-ollama.mjs
// Needs Go, g++ and two libraries' headers (apt-get install nlohmann-json3-dev libstb-dev); takes ten minutes of processor time.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const version = "v0.17.4";
const cache = process.env.VENTURI_SERVERS ?? join(homedir(), ".cache", "venturi-servers");
const include = join(cache, "include");

// A module's archive has no folder called `vendor`, where Ollama keeps these headers. Miniaudio's is in another module.
const found = run("go", ["mod", "download", "-json", "github.com/gen2brain/malgo@v0.11.23"], "pipe");
mkdirSync(join(include, "miniaudio"), { recursive: true });
copyFileSync(join(JSON.parse(found.stdout).Dir, "miniaudio.h"), join(include, "miniaudio", "miniaudio.h"));
run("go", ["install", `github.com/ollama/ollama@${version}`], "inherit", {
  CGO_ENABLED: "1",
  CPATH: include,
  GOBIN: join(cache, "bin"),
});
console.log(join(cache, "bin", "ollama"));

function run(command, args, stdio, env = {}) {
  const done = spawnSync(command, args, { stdio, encoding: "utf8", env: { ...process.env, ...env } });
  if (done.status === 0) return done;
  console.error(done.error?.message ?? done.stderr ?? `${command} ended with ${done.status}`);
  process.exit(1);
}
