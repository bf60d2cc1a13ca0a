import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";

/** Turns of the main threads, and sizes, of the processes that were started with `env`. */
export class Turns {
  readonly #folder = mkdtempSync(join(tmpdir(), "venturi-turns-"));

  get env(): Record<string, string> {
    const preload = new URL("./turns.js", import.meta.url).href;
    return { VENTURI_TURNS: this.#folder, NODE_OPTIONS: `--import ${preload}` };
  }

  /** The longest since then, ms of processor time, 0 when all were short; and the largest size of a process, MiB. */
  since(since: number): { longest: number; largest: number } {
    let [longest, largest] = [0, 0];
    for (const name of readdirSync(this.#folder)) {
      for (const line of readFileSync(join(this.#folder, name), "utf8").trim().split("\n")) {
        const [at = 0, ms = 0, size = 0] = line.split(" ").map(Number);
        if (at < since) continue;
        longest = Math.max(longest, ms);
        largest = Math.max(largest, size);
      }
    }
    return { longest, largest };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** How much of the machine was somebody else's: the load, and time that the hypervisor gave to other machines. */
export class Machine {
  #stolen = 0;
  #total = 0;

  constructor() {
    this.#look();
  }

  /** Since the last time, as text. */
  words(): string {
    const [stolen, total] = [this.#stolen, this.#total];
    this.#look();
    const share = (this.#stolen - stolen) / Math.max(1, this.#total - total);
    return `load ${loadavg()[0]?.toFixed(1)}, steal ${Math.round(share * 100)} %`;
  }

  #look(): void {
    const [, ...ticks] = (/^cpu .*$/m.exec(readFileSync("/proc/stat", "utf8"))?.[0] ?? "").split(/\s+/).map(Number);
    this.#stolen = ticks[7] ?? 0;
    this.#total = ticks.slice(0, 8).reduce((sum, tick) => sum + tick, 0);
  }
}
