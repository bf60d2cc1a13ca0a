import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import type { RequestDoing } from "../../core/values/doing.ts";
import type { Listen } from "../config/server.ts";
import type { ReloadReply } from "../system/reload-reply.ts";
import { heldBy } from "../watchdog/line.ts";
import { Strikes } from "../watchdog/strikes.ts";
import { Abandoned } from "./abandoned.ts";
import { Answers } from "./answers.ts";
import { type BoundSocket, bindSocket } from "./bound-socket.ts";
import { Child, type Ended } from "./child.ts";
import { watchSilent } from "./liveness.ts";
import { Packing, type Placement, shareOf } from "./placement.ts";
import { RequestCounts } from "./request-counts.ts";

export interface SupervisorOptions {
  readonly count: number;
  /** The module each process runs. */
  readonly program: URL;
  readonly configFile: string;
  readonly set: readonly string[];
  readonly listen: Listen;
  /** How long a process may drain, ms; one that takes longer is killed. */
  readonly drain: number;
  readonly log: Log;
  /** A process whose event loop is blocked for longer than this is killed, ms; 0: never. */
  readonly wedged: number;
  readonly placement: Placement;
}

const nobodyReloaded = { op: "config.reload", code: "unavailable", err: "no process of the service is ready" } as const;

/** A numbered place that is filled by one process at a time. */
interface Slot {
  readonly number: number;
  child: Child | undefined;
  /** Consecutive processes that ended before or shortly after becoming ready. */
  failures: number;
}

/** A process that stays ready for this long has started successfully, ms. */
const startedWell = 1_000;
const firstBackoff = 100;
const longestBackoff = 10_000;
/** Extra time for a process beyond its drain, ms. */
const grace = 10_000;
const startLimit = 60_000;
const placeEvery = 500;

/**
 * Runs the service in several processes on one port. Holds the listening socket, replaces processes that end, and combines their answers.
 * All run state is in the journal, so losing the supervisor loses nothing.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #log: Log;
  readonly #slots: readonly Slot[];
  readonly #children = new Set<Child>();
  readonly #answers = new Answers(this.#children);
  readonly #abandoned: Abandoned;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #counts = new RequestCounts();
  readonly #strikes = new Strikes();
  readonly #packing: Packing | undefined;
  #socket: BoundSocket | undefined;
  #stopping = false;
  #changing: Promise<unknown> = Promise.resolve();

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#packing = options.placement === "packed" ? new Packing() : undefined;
    this.#abandoned = new Abandoned({
      log: this.#log,
      patience: startLimit,
      ready: () => this.#ready,
      later: (action) => this.#after(200, action),
    });
    this.#slots = Array.from({ length: options.count }, (_, index) => ({
      number: index + 1,
      child: undefined,
      failures: 0,
    }));
  }

  /** Resolves with the address when all processes are ready. Rejects, leaving none, when the first one cannot start. */
  async start(): Promise<string> {
    const [first, ...others] = this.#slots;
    if (first === undefined)
      throw new VenturiError("service.start", "config_invalid", "there are no processes to start");
    this.#socket = await bindSocket(this.#options.listen);
    if (this.#stopping) {
      this.#closeSocket();
      throw new VenturiError("service.start", "shutting_down", "the service was stopped while it started");
    }
    // Started alone, so that an error is reported once and migrations do not run concurrently.
    const child = this.#spawn(first);
    try {
      await child.ready;
    } catch (thrown) {
      this.kill();
      await child.ended;
      throw thrown;
    }
    if (this.#options.wedged > 0) this.#watch();
    await Promise.allSettled(others.map((slot) => this.#spawn(slot).ready));
    this.#placeAgain();
    return this.#socket.url;
  }

  /** Reloads the config of one process after another; stops at the first refusal. Resolves with the last answer. */
  async reload(): Promise<ReloadReply> {
    let last: ReloadReply = { ok: false, error: nobodyReloaded };
    await this.#inTurn(async () => {
      for (const { number, pid: child, link } of this.#ready) {
        const outcome = await link.ask("reload", undefined, startLimit).catch((thrown: unknown) => {
          this.#log.error("a process did not reload", { process: number, child, error: messageOf(thrown) });
          return undefined;
        });
        if (outcome === undefined) continue;
        last = outcome;
        if (outcome.ok) continue;
        const { code, err } = outcome.error;
        this.#log.error("the config was refused; the processes go on with the one they have", { code, error: err });
        return;
      }
    });
    return last;
  }

  /** Replaces one process after another by a new one, which loads program and config again. */
  restart(): Promise<void> {
    return this.#inTurn(async () => {
      for (const slot of this.#slots) {
        const old = slot.child;
        const next = this.#spawn(slot);
        try {
          await next.ready;
        } catch (thrown) {
          if (this.#stopping) return;
          this.#log.error("no new process could be started; the old ones go on", { error: messageOf(thrown) });
          if (old !== undefined && this.#children.has(old)) slot.child = old;
          return;
        }
        if (this.#stopping) return;
        if (old !== undefined) this.#drain(old, "release");
      }
      this.#log.info("all processes were replaced", { processes: this.#slots.length });
    });
  }

  /** Drains all processes. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#closeSocket();
    const all = [...this.#children];
    // A starting process has no runs and does not handle messages yet.
    for (const child of all) {
      if (child.status === "starting") child.kill();
      else this.#drain(child);
    }
    await Promise.all(all.map(({ ended }) => ended));
  }

  /** Ends all processes now. */
  kill(): void {
    this.#stopping = true;
    this.#closeSocket();
    for (const child of this.#children) child.kill();
  }

  /** New connections are refused once no process listens any more. */
  #closeSocket(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  #place(): void {
    if (this.#socket !== undefined) this.#packing?.place(this.#ready, this.#socket.handle);
  }

  /** Also without reports: a blocked process sends none. */
  #placeAgain(): void {
    this.#place();
    if (this.#packing !== undefined) this.#after(placeEvery, () => this.#placeAgain());
  }

  get #ready(): readonly Child[] {
    return [...this.#children].filter(({ status }) => status === "ready");
  }

  #spawn(slot: Slot): Child {
    const { program, configFile, set } = this.#options;
    const child: Child = new Child({
      number: slot.number,
      program,
      socket: this.#socket?.fd ?? -1,
      start: { configFile, set, url: this.#socket?.url ?? "", refused: this.#strikes.refused() },
      reported: () => this.#place(),
      share: () => shareOf(child, this.#ready),
      answer: {
        metrics: ({ format }) => this.#answers.metrics(format),
        states: () => this.#answers.states(),
        trace: ({ run }) => this.#answers.trace(run),
        count: ({ key, window }) => this.#counts.count(key, window),
      },
    });
    slot.child = child;
    this.#children.add(child);
    child.ready.then(
      () => {
        this.#place();
        this.#abandoned.handOver();
      },
      () => {}, // Reported by whoever awaits it.
    );
    child.ended.then((ended) => this.#ended(slot, child, ended));
    return child;
  }

  #watch(): void {
    const { wedged } = this.#options;
    this.#after(wedged / 4, () => {
      watchSilent(this.#children, wedged, this.#log);
      this.#watch();
    });
  }

  #ended(slot: Slot, child: Child, { code, signal, death }: Ended): void {
    this.#children.delete(child);
    this.#answers.ended(child);
    this.#abandoned.add(child.name, death);
    this.#place();
    this.#abandoned.handOver();
    const isReplaced = slot.child !== child;
    if (this.#stopping || isReplaced) return;
    slot.child = undefined;
    const lived = child.readyAt === undefined ? 0 : performance.now() - child.readyAt;
    slot.failures = lived >= startedWell ? 0 : slot.failures + 1;
    const restarts = this.#answers.replaced(slot.number);
    const wait = slot.failures === 0 ? 0 : Math.min(longestBackoff, firstBackoff * 2 ** (slot.failures - 1));
    const fields = { process: slot.number, child: child.pid, code, signal, restarts, inMs: wait };
    const said = { run: death?.run, ...death?.request, ...heldBy(death?.holder) };
    this.#log.warn("a process ended; another one is started", { ...fields, ...said });
    if (death?.request !== undefined) void this.#strike(death.request);
    this.#after(wait, () => this.#respawn(slot));
  }

  async #strike(request: RequestDoing): Promise<void> {
    if (!this.#strikes.add(request)) return;
    const refused = this.#strikes.refused();
    // Sent to every process; one that dies meanwhile gets the list when it restarts.
    await Promise.all([...this.#children].map(({ link }) => link.ask("refuse", { refused }).catch(() => {})));
    this.#log.warn("requests that blocked two processes are refused", { ...request });
  }

  #respawn(slot: Slot): void {
    this.#spawn(slot).ready.catch((thrown: unknown) =>
      this.#log.error("a process could not be started", { process: slot.number, error: messageOf(thrown) }),
    );
  }

  #drain(child: Child, afterDrain?: "release"): void {
    child.drain(afterDrain);
    this.#place();
    const late = setTimeout(() => {
      this.#log.error("a process did not end in time; it is killed", { process: child.number, child: child.pid });
      child.kill();
    }, this.#options.drain + grace);
    child.ended.then(() => clearTimeout(late));
  }

  /** Runs reloads and restarts one at a time. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#changing.then(() => (this.#stopping ? undefined : change()));
    this.#changing = done.catch(() => {});
    return done;
  }

  #after(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (!this.#stopping) action();
    }, ms);
    this.#timers.add(timer);
  }
}
