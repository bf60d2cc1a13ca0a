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
import { Admission } from "./access/admission.ts";
import { Refusals } from "./access/refusals.ts";
import { Instances } from "./build/instances.ts";
import { checkReplacements } from "./build/replacements.ts";
import { type Config, type LoadOptions, loadConfig } from "./config/load.ts";
import type { LimitSettings } from "./config/server.ts";
import { hostContainer, provideJournal, replaceable } from "./container.ts";
import { Backlog } from "./inspect/backlog.ts";
import { inspection } from "./inspect/inspection.ts";
import { Series } from "./inspect/series.ts";
import type { CodeConfig } from "./plugins/code.ts";
import type { Siblings } from "./processes/siblings.ts";
import { indexOnce } from "./recordings/reindex.ts";
import type { ConfigRevision } from "./revisions/revision.ts";
import { type ReloadOutcome, Revisions } from "./revisions/revisions.ts";
import { type TakeUp, WorkerName } from "./runs/executor.ts";
import { startRetention } from "./runs/retention.ts";
import { HostRuns } from "./runs/runs.ts";
import { Sessions } from "./runs/sessions.ts";
import { Shadows } from "./shadow/shadows.ts";
import { EventLoopMonitor } from "./system/event-loop.ts";
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
  /** Whether shadow runs are started (`models.*.shadow`); default true. */
  readonly shadows?: boolean;
  /** Runs while the journal opens, which waits for a thread or server. */
  readonly meanwhile?: () => Promise<unknown>;
}

/** Everything but the server: shared by the service, the commands and the library. */
export interface Host {
  /** As loaded at startup; `revision().config` follows reloads. */
  readonly config: Config;
  readonly journal: Journal;
  readonly runs: Runs;
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
  const loading: LoadOptions = {
    ...(options.configFile === undefined ? {} : { file: options.configFile }),
    ...(options.code === undefined ? {} : { code: options.code }),
    ...(options.set === undefined ? {} : { set: options.set }),
    ...(options.env === undefined ? {} : { env: options.env }),
  };
  checkReplacements(options.replace ?? [], replaceable);
  const config = options.config ?? (await loadConfig(loading));
  const { logs } = config.telemetry;
  const level = logs.level ?? options.logLevel ?? (options.log === undefined ? "warn" : "info");
  const plainLog = options.log ?? (await openLog({ ...logs, level }));
  const telemetry =
    replaced(options.replace, Telemetry) ?? options.telemetry ?? (await openTelemetry(config, plainLog, level));
  const given = { log: telemetry.log(plainLog), clock: options.clock ?? systemClock };
  const undo: (() => Promise<void>)[] = [() => telemetry.close()];
  try {
    let started: Runs | undefined;
    const later = () => started ?? notYet();
    const { replace = [] } = options;
    const eventLoop = watchEventLoop(telemetry, given.log);
    undo.push(async () => eventLoop.stop());
    // A test clock does not advance with real time, so stalls cannot be measured.
    const stalls = given.clock === systemClock ? eventLoop : noStalls;
    const { worker, takeUp = "any" } = options;
    const container = hostContainer({ config, ...given, telemetry, runs: later, stalls, takeUp, replace, worker });
    const log = container.resolve<Log>(Log);
    const clock = container.resolve<Clock>(Clock);
    const instances = container.resolve(Instances);
    undo.push(() => instances.close());
    const writes = container.resolve(WriteWatch);
    const open = async () => writes.watch(telemetry.journal(await instances.make("journal", config.journal)));
    const [journal] = await Promise.all([provideJournal(container, open), options.meanwhile?.()]);
    const revisions = container.resolve(Revisions);
    await revisions.start(config);
    undo.push(() => revisions.close());
    const admission = container.resolve(Admission);
    const opened = container.resolve(HostRuns);
    if (options.before !== undefined) await freeBefore(options.before, journal, log);
    await opened.open();
    undo.push(() => opened.close());
    if (options.shadows !== false) {
      const most = config.limits.activeRuns;
      const shadows = new Shadows({ journal, runs: opened, revisions, clock, log, most, active: () => opened.active });
      opened.watch(shadows);
      undo.push(() => shadows.close());
    }
    undo.push(indexOnce({ journal, clock, log, priceOf: (name) => revisions.current.priceOf(name) }));
    undo.push(startRetention({ journal, retention: config.journal.retention, clock, log }));
    const runs = container.resolve<Runs>(Runs);
    started = runs;
    const sessions = container.resolve(Sessions);
    const channels = container.resolve<ChannelRegistry>(ChannelRegistry);
    const series = new Series({
      clock,
      figures: opened.figures,
      active: () => opened.active,
      followers: () => opened.followers,
      blockedMs: () => eventLoop.recent().blockedMs,
      queued: () => backlog.queued,
    });
    undo.push(async () => series.stop());
    const backlog = new Backlog({ journal, clock, log, telemetry, agents: () => revisions.current.agents });
    undo.push(async () => backlog.stop());
    const startedAt = clock.now();
    const host: Host = {
      inspect: (siblings) => {
        series.start();
        backlog.start();
        const breakers = container.resolve(Breakers);
        const followers = () => opened.followers;
        const worker = container.resolve<string>(WorkerName);
        const runsOnOld = () => revisions.heldByOld;
        return inspection({ host, breakers, series, followers, runsOnOld, startedAt, worker, siblings });
      },
      config,
      journal,
      runs,
      telemetry,
      log,
      clock,
      writes,
      admission,
      refusals: container.resolve(Refusals),
      backlog,
      memory: container.resolve<Memory>(Memory),
      eventLoop: () => eventLoop.recent(),
      active: () => opened.active,
      drain: (ms, afterDrain) => opened.drain(ms, afterDrain),
      takeOver: (worker, death) => freeRunsOf(worker, journal, death),
      revision: () => revisions.current,
      messages: async (of) => container.resolve(ContentStore).load(await sessions.before({ ...of, run: "" })),
      reload: async (code) => {
        const outcome = await revisions.reload(code === undefined ? loading : { ...loading, code });
        if (!outcome.ok && outcome.error.code === "shutting_down") return outcome; // The journal may already be closed.
        const details = outcome.ok ? { config: outcome.hash } : { code: outcome.error.code };
        const entry = { action: outcome.ok ? "config.reloaded" : "config.refused", by: "local", details };
        await journal
          .audit(entry)
          .catch((thrown: unknown) => log.error("not audited", { ...entry, error: messageOf(thrown) }));
        return outcome;
      },
      openChannels: async () => {
        await channels.open?.();
        return channels.names().flatMap((name) => {
          const channel = channels.get(name);
          return channel === undefined ? [] : [{ name, channel }];
        });
      },
      close: () => undoAll(undo),
    };
    return host;
  } catch (thrown) {
    await undoAll(undo).catch(() => {}); // Report the first failure.
    throw thrown;
  }
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

/** Shorter stalls are measured but not logged, ms. */
const longStall = 250;

/** Loading modules blocks the loop during startup; not worth a warning, ms. */
const startUp = 10_000;

function watchEventLoop(telemetry: Telemetry, log: Log): EventLoopMonitor {
  const opened = systemClock.monotonic();
  let quietUntil = 0;
  return new EventLoopMonitor(systemClock, ({ part, ms, culprit, busy }) => {
    if (part === "blocked") telemetry.stalled(ms, culprit);
    const isNews = culprit !== undefined || (busy && systemClock.monotonic() - opened > startUp);
    if (ms < longStall || !isNews) return;
    // Garbage collections are frequent during startup.
    if (part === "gc" && systemClock.monotonic() < quietUntil) return;
    if (part === "gc") quietUntil = systemClock.monotonic() + startUp;
    const what =
      part === "gc"
        ? "garbage collection takes much of the process's time; memory is filled faster than it can be freed"
        : "the event loop was blocked; work that takes long belongs in a worker thread";
    log.warn(what, {
      ms: Math.round(ms),
      ...(culprit === undefined ? {} : { culprit }),
    });
  }).start();
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
