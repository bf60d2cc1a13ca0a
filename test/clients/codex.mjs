// Codex CLI, `exec`, as its documentation sets up another provider; it runs a command and tells what came of it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const home = mkdtempSync(join(tmpdir(), "codex-"));
try {
  writeFileSync(
    join(home, "config.toml"),
    `model = "codex"
model_provider = "venturi"
[model_providers.venturi]
name = "Venturi"
base_url = "${process.env.OPENAI_BASE_URL}"
env_key = "OPENAI_API_KEY"
`,
  );
  const { stdout, stderr, status } = spawnSync(
    "codex",
    ["exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", "Say what the command prints."],
    { cwd: home, env: { ...process.env, CODEX_HOME: home }, input: "", encoding: "utf8", timeout: 120_000 },
  );
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /It printed: .*venturi-was-here/s, stdout + stderr);
} finally {
  rmSync(home, { recursive: true });
}
