// Runs the programs of examples/migrate against the simulator, in a folder of their own with the other libraries installed.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startSimulator } from "../dist/plugins/simulator/server.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "venturi-migrate-"));
const packages = [
  "ai@7.0.169",
  "@ai-sdk/openai-compatible@3.0.90",
  "@openai/agents@0.20",
  "openai@7.53.0",
  "@mastra/core@1.71",
  "zod@4.6.7",
];
writeFileSync(
  join(folder, "package.json"),
  JSON.stringify({ name: "migrate-examples", private: true, type: "module" }),
);
const words = ["install", "--no-audit", "--no-fund", "--legacy-peer-deps", ...packages];
const installed = spawnSync("npm", words, { cwd: folder, stdio: "inherit" });
if (installed.status !== 0) process.exit(1);
symlinkSync(root, join(folder, "node_modules/venturi"));
cpSync(join(root, "examples/migrate"), join(folder, "programs"), { recursive: true });
const simulator = await startSimulator({ pace: 0 });
const env = { ...process.env, BASE_URL: `${simulator.url}/v1`, OPENAI_API_KEY: "simulated-0000" };
for (const file of readdirSync(join(folder, "programs")).filter((name) => name.endsWith(".ts"))) {
  const said = await run(file);
  const ok = said.includes("sunny in Paris");
  process.stdout.write(`${ok ? "ok" : "FAILED"} ${file}: ${JSON.stringify(said.slice(ok ? -60 : -2000))}\n`);
  if (!ok) process.exitCode = 1;
}
await simulator.close();
rmSync(folder, { recursive: true });

async function run(file) {
  const child = spawn(process.execPath, ["--no-warnings", join("programs", file)], { cwd: folder, env });
  const limit = setTimeout(() => child.kill("SIGKILL"), 60_000);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(limit);
  return said;
}
