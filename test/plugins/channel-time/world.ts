import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../../../src/core/ports/clock.ts";
import { type Log, silentLog } from "../../../src/core/ports/log.ts";
import { openService, type Service } from "../../../src/host/service.ts";

/** Real timers, and a wall clock that a test sets. */
export class SetClock implements Clock {
  #ahead: number;

  constructor(now: number) {
    this.#ahead = now - Date.now();
  }

  now(): number {
    return Date.now() + this.#ahead;
  }
  monotonic = systemClock.monotonic;
  after = systemClock.after;
  turn = systemClock.turn;

  set(now: number): void {
    this.#ahead = now - Date.now();
  }
  move(ms: number): void {
    this.#ahead += ms;
  }
}

const base = `version: 1
providers: { demo: { type: simulator, pace: 0 } }
telemetry: off
`;

/** A service over a configuration of a few lines; the folder goes when it is closed. */
export async function serviceOf(
  yaml: string,
  options: { clock?: Clock; folder?: string; log?: Log } = {},
): Promise<Service & { folder: string; close(): Promise<void> }> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "venturi-time-")));
  const configFile = join(folder, "venturi.yaml");
  const agents = yaml.includes("agents:") ? "" : "agents: { assistant: { model: demo/small } }\n";
  const journal = yaml.includes("journal:") ? "" : "journal: { type: memory }\n";
  const server = yaml.includes("server:") ? "" : "server: { listen: 0 }\n";
  await writeFile(configFile, `${base}${server}${agents}${journal}${yaml}`);
  const service = await openService({
    configFile,
    env: {},
    log: options.log ?? silentLog,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  return {
    ...service,
    folder,
    close: async () => {
      await service.drain();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Waits for something to be true; the suite's timeout ends it. */
export async function until<T>(ask: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  for (;;) {
    const found = await ask();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
