import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { nodeOptions } from "../host/system/node-options.ts";
import { keepWatchdog } from "../host/system/systemd.ts";
import { BlackBox, deathOf, inheritedBox } from "../host/watchdog/black-box.ts";
import { heldBy, writeLine } from "../host/watchdog/line.ts";
import { Strikes } from "../host/watchdog/strikes.ts";
import { type KeeperSays, type Kept, type KeptSays, type KeptSignal, keptEnv, keptSignals } from "./kept.ts";

const startedWell = 1_000;
const firstBackoff = 100;
const longestBackoff = 10_000;
/** How long a blocked service has to end itself and report why, ms. */
const grace = 5_000;
/** Time after a second signal before it is killed, ms. */
const lastPatience = 500;
const inheritedSocket = 4;

/**
 * Whether `start` can run under a keeper before its configuration is known. A service with several processes has a supervisor instead,
 * which also works below the keeper.
 */
export function mayBeKept(args: readonly string[], env: Readonly<Record<string, string | undefined>>): boolean {
  if (args.some((word) => /^(?:-h|--help)$|processes|wedged=0/.test(word))) return false;
  if (process.execArgv.some((word) => word.startsWith("--inspect"))) return false;
  const at = args.findIndex((word) => word === "--config" || word.startsWith("--config="));
  const given = args[at]?.startsWith("--config=") ? args[at].slice("--config=".length) : args[at + 1];
  const file = at < 0 ? (env.VENTURI_CONFIG ?? "config/venturi.yaml") : (given ?? "");
  try {
    return !/(?:^|[{,]) *["']?(?:processes["']? *:|wedged["']? *: *0)/m.test(readFileSync(file, "utf8"));
  } catch {
    return true; // Reported when the configuration is read.
  }
}

/** Runs `venturi start` in a child process, and restarts it when it is blocked or crashes. Resolves with the exit status. */
export function keep(program: URL, args: readonly string[]): Promise<number> {
  return new Promise((resolve) => new Keeper(program, args, resolve).start());
}

class Keeper {
  readonly #program: URL;
  readonly #args: readonly string[];
  readonly #done: (status: number) => void;
  #child: ChildProcess | undefined;
  #socket: { readonly handle: { readonly fd: number; close(): void }; readonly url: string } | undefined;
  #textLog = process.stderr.isTTY === true;
  readonly #strikes = new Strikes();
  #wedged = 0;
  #failures = 0;
  #restarts = 0;
  #stops = 0;
  #seenAt = 0;
  /** Exit status if the service has none. */
  #status = 1;

  constructor(program: URL, args: readonly string[], done: (status: number) => void) {
    this.#program = program;
    this.#args = args;
    this.#done = done;
  }

  start(): void {
    for (const signal of keptSignals) process.on(signal, () => this.#pass(signal));
    keepWatchdog();
    this.#spawn(undefined);
  }

  #pass(signal: KeptSignal): void {
    this.#tell({ signal });
    if (signal !== "SIGTERM" && signal !== "SIGINT") return;
    this.#stops += 1;
    this.#socket?.handle.close();
    this.#socket = undefined;
    this.#status = 128 + constants.signals[signal];
    const child = this.#child;
    // While starting, it does not listen to its keeper yet; later it ignores this.
    child?.kill(signal);
    if (child === undefined) this.#done(this.#status);
    // It exits at once, unless it is blocked.
    else if (this.#stops > 1) setTimeout(() => child.kill("SIGKILL"), lastPatience);
  }

  #spawn(before: Kept["before"]): void {
    const box = new BlackBox();
    const kept: Kept = {
      box: inheritedBox,
      ...(this.#socket === undefined ? {} : { socket: { fd: inheritedSocket, url: this.#socket.url } }),
      ...(before === undefined ? {} : { before, restarts: ++this.#restarts }),
      refused: this.#strikes.refused(),
    };
    const child = fork(this.#program, this.#args, {
      env: { ...process.env, ...keptEnv(kept) },
      execArgv: nodeOptions(process.execArgv, process.env),
      stdio: ["inherit", "inherit", "inherit", "ipc", this.#socket?.handle.fd ?? "ignore", box.fd],
    });
    this.#child = child;
    let readyAt: number | undefined;
    let worker = "";
    let watching: NodeJS.Timeout | undefined;
    child.on("error", () => {}); // A message to a dead process; `exit` follows.
    child.on("message", ({ listening }: KeptSays, handle) => {
      this.#seenAt = performance.now();
      if (listening === undefined) return;
      readyAt = performance.now();
      worker = listening.worker;
      this.#wedged = listening.wedged;
      this.#textLog = listening.textLog;
      const socket = handle as unknown as { fd: number; close(): void } | undefined; // As the service sent it.
      if (socket !== undefined && this.#stops === 0) this.#socket ??= { handle: socket, url: listening.url };
      if (listening.wedged > 0) watching = setInterval(() => this.#look(child), listening.wedged / 4);
    });
    child.on("exit", (code, signal) => {
      clearInterval(watching);
      this.#child = undefined;
      const death = deathOf(box, signal ?? `status ${code}`);
      // Not a regular end if a tool called process.exit(0).
      const isOver = (code === 0 && death.run === undefined) || readyAt === undefined || this.#stops > 0;
      if (isOver)
        return this.#done(
          code ?? (this.#stops > 0 || signal === null ? this.#status : 128 + constants.signals[signal]),
        );
      void this.#replace({ worker, death }, performance.now() - (readyAt ?? 0));
    });
  }

  async #replace(before: NonNullable<Kept["before"]>, lived: number): Promise<void> {
    this.#failures = lived >= startedWell ? 0 : this.#failures + 1;
    const inMs = this.#failures === 0 ? 0 : Math.min(longestBackoff, firstBackoff * 2 ** (this.#failures - 1));
    const { cause, run, request, holder } = before.death;
    const message = "the process ended; another one is started";
    await writeLine(this, "warn", { message, cause, run, ...request, ...heldBy(holder), inMs });
    if (request !== undefined && this.#strikes.add(request))
      await writeLine(this, "warn", { message: "requests that blocked two processes are refused", ...request });
    setTimeout(() => this.#stops === 0 && this.#spawn(before), inMs);
  }

  /** A blocked service ends itself; this is for one that is stopped as a whole and cannot. */
  #look(child: ChildProcess): void {
    this.#tell({ ask: "alive" });
    const silentMs = performance.now() - this.#seenAt;
    if (silentMs < this.#wedged + grace) return;
    void writeLine(this, "error", { message: "the process is silent; it is killed", silentMs });
    child.kill("SIGKILL");
  }

  get textLog(): boolean {
    return this.#textLog;
  }

  #tell(message: KeeperSays): void {
    if (this.#child?.connected) this.#child.send(message, () => {}); // A process that is gone ends in another way.
  }
}
