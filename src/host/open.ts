import { setImmediate } from "node:timers/promises";
import { Breakers } from "../agent/run/breaker.ts";
import { ContentStore } from "../agent/run/content.ts";
import { messageOf } from "../core/errors/errors.ts";
import type { Journal } from "../core/journal/journal.ts";
import type { Message } from "../core/model/messages.ts";
import type { Channel } from "../core/ports/channel.ts";
import { Clock, systemClock } from "../core/ports/clock.ts";
import { Memory } from "../core/ports/held.ts";
import type { Inspect } from "../core/ports/inspect.ts";
import { Log } from "../core/ports/log.ts";
import { ChannelRegistry } from "../core/ports/registries.ts";
import { Runs } from "../core/ports/runs.ts";
import { noStalls } from "../core/ports/stalls.ts";
import { noTelemetry, Telemetry } from "../core/ports/telemetry.ts";
import type { Provided, Token } from "../core/values/token.ts";
import { type Death, freeRunsOf } from "../journal/take-over.ts";
import { WriteWatch } from "../journal/write-watch.ts";
import { loadClient } from "../provider/http/connections.ts";
import { Admission } from "./access/admission.ts";
import { Refusals } from "./access/refusals.ts";
import { figuresOf, type Opened, startBeside, type Undo } from "./beside.ts";
import { Instances } from "./build/instances.ts";
import { checkReplacements } from "./build/replacements.ts";
import { type Config, type LoadOptions, loadConfig } from "./config/load.ts";
import type { LimitSettings } from "./config/server.ts";
import { hostContainer, provideJournal, replaceable } from "./container.ts";
import type { Backlog } from "./inspect/backlog.ts";
import { inspection } from "./inspect/inspection.ts";
import type { Series } from "./inspect/series.ts";
import type { CodeConfig } from "./plugins/code.ts";
import type { Siblings } from "./processes/siblings.ts";
import type { ConfigRevision } from "./revisions/revision.ts";
import { type ReloadOutcome, Revisions } from "./revisions/revisions.ts";
import { type TakeUp, WorkerName } from "./runs/executor.ts";
import { HostRuns } from "./runs/runs.ts";
import { Sessions } from "./runs/sessions.ts";
import { watchEventLoop } from "./system/event-loop-watch.ts";
import { type LogLevel, openLog } from "./system/log.ts";
import { ownVersion } from "./system/version.ts";

export interface OpenOptions {
  /** Absent when the program defines everything. */
  readonly configFile?: string;
  /** Agents, tools and providers defined by the program. */
  readonly code?: CodeConfig;
  /** Which runs in the journal to take over; by default `any` run of the agents here. */
  readonly takeUp?: TakeUp;
  /** The already loaded configuration file; read when absent. */
  readonly config?: Config;
  /** Name of this process's worker in the journal, unique among all; generated when absent. */
  readonly worker?: string;
  /** The process this one replaces: its runs are freed before this one claims any. */
  readonly before?: { readonly worker: string; readonly death: Death };
  /** `a.b=c` overrides. */
  readonly set?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Overrides the config. */
  readonly telemetry?: Telemetry;
  readonly log?: Log;
  /** Applies unless the config sets `telemetry.logs.level`. Default: `info` for a given log; `warn` for stderr, to avoid a line per run. */
  readonly logLevel?: LogLevel;
  readonly clock?: Clock;
  /** Overrides container bindings: `provide(ToolRegistry, mine)`. */
  readonly replace?: readonly Provided[];
  /** The process ends after one command; default false. */
  readonly shortLived?: boolean;
  /** Whether shadow runs are started (`models.*.shadow`); default true. */
  readonly shadows?: boolean;
  /** Runs while the journal opens, which waits for a thread or server; by default the HTTP client of the providers is loaded. */
  readonly meanwhile?: () => Promise<unknown>;
}

/** Everything but the server: shared by the service, the commands and the library. */
export interface Host {
  /** As loaded at startup; `revision().config` follows reloads. */
  readonly config: Config;
  readonly journal: Journal;
  readonly runs: Runs;
  /** The name of this process's worker in the journal. */
  readonly worker: string;
  readonly telemetry: Telemetry;
  readonly log: Log;
  readonly clock: Clock;
  /** Whether the journal accepts writes. */
  readonly writes: WriteWatch;
  /** Decides whether a run may start now. */
  readonly admission: Admission;
  /** Notified of what was refused. */
  readonly refusals: Refusals;
  /** Unfinished runs of the journal. */
  readonly backlog: Backlog;
  /** Memory this process holds for its callers. */
  readonly memory: Memory;
  /** Recent blocked time of the event loop. */
  eventLoop(): { readonly blockedMs: number; readonly longestMs: number };
  /** The service's view of itself; starts sampling. */
  inspect(siblings?: Pick<Siblings, "states">): Inspect;
  /** Number of runs executing in this process. */
  active(): number;
  /** Refuses new runs; running ones get `ms` to finish, then are interrupted with a terminal event, or released. */
  drain(ms: number, afterDrain: LimitSettings["afterDrain"]): Promise<void>;
  /** Makes the runs of a worker that is known to be dead claimable. */
  takeOver(worker: string, death?: Death): Promise<number>;
  revision(): ConfigRevision;
  /** The conversation of a session: the messages of all its ended runs. */
  messages(of: { readonly tenant: string; readonly session: string }): Promise<readonly Message[]>;
  /** Creates the channels, in config order, for a server to mount. */
  openChannels(): Promise<readonly { readonly name: string; readonly channel: Channel }[]>;
  /** With `code`, the program's definitions are replaced too. */
  reload(code?: CodeConfig): Promise<ReloadOutcome>;
  /** Stops runs, then closes revisions, channels, the journal and finally telemetry. */
  close(): Promise<void>;
}

export async function openHost(options: OpenOptions): Promise<Host> {
  checkReplacements(options.replace ?? [], replaceable);
  const base = await openBase(options);
  const undo: Undo = [() => base.telemetry.close()];
  try {
    const deps = await openDeps(options, base, undo);
    return hostOf(base, deps, () => undoAll(undo));
  } catch (thrown) {
    await undoAll(undo).catch(() => {}); // Report the first failure.
    throw thrown;
  }
}

type Base = Awaited<ReturnType<typeof openBase>>;

/** The container's inputs: read from files and options, before any plugin is created. */
async function openBase(options: OpenOptions) {
  const { configFile: file, code, set, env, replace = [] } = options;
  const loading: LoadOptions = {
    ...(file === undefined ? {} : { file }),
    ...(code === undefined ? {} : { code }),
    ...(set === undefined ? {} : { set }),
    ...(env === undefined ? {} : { env }),
  };
  const config = options.config ?? (await loadConfig(loading));
  const { logs } = config.telemetry;
  const level = logs.level ?? options.logLevel ?? (options.log === undefined ? "warn" : "info");
  const plainLog = options.log ?? (await openLog({ ...logs, level }));
  const telemetry = replaced(replace, Telemetry) ?? options.telemetry ?? (await openTelemetry(config, plainLog, level));
  return { loading, config, telemetry, log: telemetry.log(plainLog), clock: options.clock ?? systemClock };
}

interface Deps extends Opened {
  readonly container: ReturnType<typeof hostContainer>;
  readonly writes: WriteWatch;
  readonly runs: Runs;
  readonly series: Series;
  readonly backlog: Backlog;
}

/** Opens the journal, the first revision and the runs, in that order. */
async function openDeps(options: OpenOptions, base: Base, undo: Undo): Promise<Deps> {
  const { config, telemetry } = base;
  const { worker, takeUp = "any", shortLived, replace = [] } = options;
  const eventLoop = watchEventLoop(telemetry, base.log);
  undo.push(async () => eventLoop.stop());
  // A test clock does not advance with real time, so stalls cannot be measured.
  const stalls = base.clock === systemClock ? eventLoop : noStalls;
  let started: Runs | undefined;
  const later = () => started ?? notYet();
  const container = hostContainer({ ...base, runs: later, stalls, takeUp, replace, worker, shortLived });
  const [log, clock] = [container.resolve<Log>(Log), container.resolve<Clock>(Clock)];
  const instances = container.resolve(Instances);
  undo.push(() => instances.close());
  const writes = container.resolve(WriteWatch);
  const open = async () => writes.watch(telemetry.journal(await instances.make("journal", config.journal)));
  const opening = provideJournal(container, open);
  const [journal] = await Promise.all([opening, during(opening, options.meanwhile ?? loadClient)]);
  const revisions = container.resolve(Revisions);
  await revisions.start(config);
  undo.push(() => revisions.close());
  const opened = container.resolve(HostRuns);
  if (options.before !== undefined) await freeBefore(options.before, journal, log);
  await opened.open();
  undo.push(() => opened.close());
  const deps = { container, log, clock, eventLoop, writes, journal, revisions, opened };
  startBeside({ config, shadows: options.shadows !== false }, deps, undo);
  const runs = container.resolve<Runs>(Runs);
  started = runs;
  return { ...deps, runs, ...figuresOf(deps, telemetry, undo) };
}

/** Nothing if there is nothing to wait for. Deferred by a turn: loading blocks the thread, and the journal should be opening by then. */
async function during(opening: Promise<Journal>, work: () => Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  opening.then(over, over);
  await setImmediate();
  if (!isOver) await work();
}

function hostOf({ loading, config, telemetry }: Base, deps: Deps, close: () => Promise<void>): Host {
  const { container, log, clock, eventLoop, writes, journal, revisions, opened, runs, series, backlog } = deps;
  const channels = container.resolve<ChannelRegistry>(ChannelRegistry);
  const startedAt = clock.now();
  const host: Host = {
    inspect: (siblings) => {
      series.start();
      backlog.start();
      const breakers = container.resolve(Breakers);
      const followers = () => opened.followers;
      const runsOnOld = () => revisions.heldByOld;
      return inspection({ host, breakers, series, followers, runsOnOld, startedAt, siblings });
    },
    config,
    journal,
    runs,
    worker: container.resolve<string>(WorkerName),
    telemetry,
    log,
    clock,
    writes,
    admission: container.resolve(Admission),
    refusals: container.resolve(Refusals),
    backlog,
    memory: container.resolve<Memory>(Memory),
    eventLoop: () => eventLoop.recent(),
    active: () => opened.active,
    drain: (ms, afterDrain) => opened.drain(ms, afterDrain),
    takeOver: (worker, death) => freeRunsOf(worker, journal, death),
    revision: () => revisions.current,
    messages: async (of) =>
      container.resolve(ContentStore).load(await container.resolve(Sessions).before({ ...of, run: "" })),
    reload: async (code) => {
      const outcome = await revisions.reload(code === undefined ? loading : { ...loading, code });
      await auditReload(outcome, journal, log);
      return outcome;
    },
    openChannels: async () => {
      await channels.open?.();
      return channels.names().flatMap((name) => {
        const channel = channels.get(name);
        return channel === undefined ? [] : [{ name, channel }];
      });
    },
    close,
  };
  return host;
}

async function auditReload(outcome: ReloadOutcome, journal: Journal, log: Log): Promise<void> {
  if (!outcome.ok && outcome.error.code === "shutting_down") return; // The journal may already be closed.
  const details = outcome.ok ? { config: outcome.hash } : { code: outcome.error.code };
  const entry = { action: outcome.ok ? "config.reloaded" : "config.refused", by: "local", details };
  await journal
    .audit(entry)
    .catch((thrown: unknown) => log.error("not audited", { ...entry, error: messageOf(thrown) }));
}

/** Otherwise the dead worker's lease would have to expire, and the reason of its death would be unknown. */
async function freeBefore(
  { worker, death }: NonNullable<OpenOptions["before"]>,
  journal: Journal,
  log: Log,
): Promise<void> {
  try {
    const runs = await freeRunsOf(worker, journal, death);
    if (runs > 0) log.info("the dead process's runs were freed", { worker, runs });
  } catch (thrown) {
    log.warn("the dead process's runs could not be freed; they are when its lease ends", { error: messageOf(thrown) });
  }
}

/** The SDK is large, so it is loaded only if telemetry is on. */
async function openTelemetry({ telemetry }: Config, log: Log, level: LogLevel): Promise<Telemetry> {
  if (!telemetry.enabled) return noTelemetry;
  const { createTelemetry } = await import("../telemetry/index.ts");
  return createTelemetry({ ...telemetry, logs: { level } }, { log, version: ownVersion() });
}

/** Closes in reverse order, continuing when some throw. */
async function undoAll(undo: (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of undo.splice(0).reverse()) await close().catch((thrown: unknown) => failures.push(thrown));
  if (failures.length > 0) throw failures[0];
}

function notYet(): never {
  throw new Error("runs can't be used before every plugin is created");
}

const replaced = <T>(replace: readonly Provided[] | undefined, token: Token<T>): T | undefined =>
  replace?.find((each) => each.token === token)?.value as T | undefined; // A replacement has the token's type.
