import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));

/** A service as users start it, in its own process, with the files its config needs. */
export class ServiceProcess {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #folder: string;
  #words: string;

  private constructor(parts: { child: ChildProcess; folder: string; url: string; words: () => string }) {
    this.url = parts.url;
    this.#child = parts.child;
    this.#folder = parts.folder;
    this.#words = parts.words();
    parts.child.stderr?.on("data", (bytes) => {
      this.#words += bytes;
    });
    parts.child.stdout?.on("data", (bytes) => {
      this.#words += bytes;
    });
  }

  static async start(
    files: Readonly<Record<string, string>>,
    env: Readonly<Record<string, string>> = {},
  ): Promise<ServiceProcess> {
    const folder = mkdtempSync(join(tmpdir(), "venturi-edges-"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const child = spawn(process.execPath, ["--no-warnings", bin, "--config", join(folder, "venturi.yaml"), "start"], {
      env: { ...process.env, NO_COLOR: "1", ...env },
    });
    let words = "";
    const hear = (bytes: Buffer) => {
      words += bytes;
    };
    child.stderr.on("data", hear);
    child.stdout.on("data", hear);
    for (;;) {
      const url = /listening on (http:\S+)/.exec(words)?.[1] ?? /"url":"(http:[^"]+)"/.exec(words)?.[1];
      if (url !== undefined) return new ServiceProcess({ child, folder, url, words: () => words });
      if (child.exitCode !== null) throw new Error(`it ended: ${words}`);
      await Promise.race([once(child.stderr, "data"), once(child.stdout, "data"), once(child, "close")]);
    }
  }

  get words(): string {
    return this.#words;
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async run(
    agent: string,
    body: Readonly<Record<string, unknown>> = {},
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${this.url}/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ agent, input: "go", ...body }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  async stop(): Promise<void> {
    if (this.alive) {
      this.#child.kill("SIGKILL");
      await once(this.#child, "close");
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
