// Runs the vitest example in its own folder: vitest is too large for a development dependency that one example needs.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "venturi-vitest-"));
const run = (command, words) => spawnSync(command, words, { cwd: folder, stdio: "inherit" }).status ?? 1;
writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "vitest-example", private: true, type: "module" }));
let status = run("npm", ["install", "--no-audit", "--no-fund", "vitest@5.1.0", `zod@4.6.7`]);
if (status === 0) {
  symlinkSync(root, join(folder, "node_modules/venturi"));
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  status = run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "examples/testing/vitest.test.ts"]);
}
rmSync(folder, { recursive: true });
process.exitCode = status;
