import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Pace {
  readonly start: number;
  readonly began: number;
  readonly speed: number;
  /** Where the clock stops. */
  readonly end: number;
}

/** A process that is killed, started again, and whose clock is set. */
export class Replica {
  readonly #configFile: string;
  readonly #pace: Pace;
  #child: ChildProcess | undefined;
  #lines: ((line: string) => void)[] = [];
  url = "";
  kills = 0;

  constructor(configFile: string, pace: Pace) {
    this.#configFile = configFile;
    this.#pace = pace;
  }

  async start(): Promise<void> {
    const { start, began, speed, end } = this.#pace;
    const file = fileURLToPath(new URL("./replica.js", import.meta.url));
    const times = [start, began, speed, end].map(String);
    const words = ["--no-warnings", "--expose-gc", file, this.#configFile, ...times];
    const child = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] });
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith("ready ")) this.url = line.slice("ready ".length);
      for (const tell of this.#lines.splice(0)) tell(line);
    });
    await Promise.race([this.#line(), once(child, "exit")]);
    if (this.url === "") throw new Error("a replica did not start");
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    this.url = "";
    this.kills += 1;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  set(ahead: number): void {
    this.#child?.stdin?.write(`ahead ${ahead}\n`);
  }

  async heap(): Promise<number> {
    this.#child?.stdin?.write("heap\n");
    for (;;) {
      const line = await this.#line();
      if (line.startsWith("heap ")) return Number(line.slice("heap ".length));
    }
  }

  #line(): Promise<string> {
    return new Promise((resolve) => this.#lines.push(resolve));
  }
}
