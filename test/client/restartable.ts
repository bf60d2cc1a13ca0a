import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../chaos/port.ts";

const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));

/** Agents for the clients' tests: they count, quickly or slowly, call a tool, ask a person, or talk. */
const config = (port: number, more: string): string => `version: 1
dataFolder: ./data
providers: { demo: { type: simulator, pace: 5 }, quick: { type: simulator, pace: 1 } }
models: { shaky: { chain: ["demo/count-30!cut@2000", demo/count-10], failover: retract } }
tools:
  clock: { type: clock }
  calculator: { type: calculator }
  careful: { type: calculator, approval: always }
  guarded_clock: { type: clock, approval: always }
agents:
  count: { model: demo/pace-10-30 }
  slow: { model: demo/pace-20-60 }
  flaky: { model: shaky }
  long: { model: quick/count-1500 }
  assistant: { model: demo/small, tools: [clock, calculator] }
  careful: { model: demo/small, tools: [guarded_clock] }
  asks: { model: demo/calls-1, tools: [careful] }
journal: { type: sqlite, path: ./runs.db, lease: 1s }
channels: { http: {}, websocket: {} }
server: { listen: "127.0.0.1:${port}"${more} }
`;

/** A service process that can be killed and started again on the same port and journal. */
export class Restartable {
  readonly url: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "venturi-client-"));
  #child: ChildProcess | undefined;

  private constructor(port: number, more: string) {
    this.url = `http://127.0.0.1:${port}`;
    writeFileSync(join(this.#folder, "venturi.yaml"), config(port, more));
  }

  static async start(more = ""): Promise<Restartable> {
    const service = new Restartable(await freePort(), more);
    await service.begin();
    return service;
  }

  async begin(): Promise<void> {
    const child = spawn(
      process.execPath,
      ["--no-warnings", bin, "--config", join(this.#folder, "venturi.yaml"), "start"],
      {
        env: { ...process.env, NO_COLOR: "1" },
      },
    );
    this.#child = child;
    let words = "";
    const hear = (bytes: Buffer) => {
      words += bytes;
    };
    child.stderr.on("data", hear);
    child.stdout.on("data", hear);
    while (!words.includes(this.url)) {
      if (child.exitCode !== null) throw new Error(`it ended: ${words}`);
      await Promise.race([once(child.stderr, "data"), once(child.stdout, "data"), once(child, "close")]);
    }
  }

  /** As a crash or the kernel does it. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "close");
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
