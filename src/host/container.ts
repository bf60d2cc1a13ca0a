import { Chance, systemChance } from "../core/ports/chance.ts";
import { WriteWatch } from "../journal/write-watch.ts";
import "reflect-metadata";
import { container, type DependencyContainer, type InjectionToken } from "tsyringe";
import { Breakers } from "../agent/run/breaker.ts";
import { ContentStore } from "../agent/run/content.ts";
import { Members } from "../agent/run/members.ts";
import { VenturiError } from "../core/errors/errors.ts";
import { Journal } from "../core/journal/journal.ts";
import { Clock } from "../core/ports/clock.ts";
import { Memory } from "../core/ports/held.ts";
import { Log } from "../core/ports/log.ts";
import { MemoryRegistry } from "../core/ports/notes.ts";
import { PipelineWork, StreamPipeline, StreamPipelines } from "../core/ports/pipeline.ts";
import { ChannelRegistry, ProviderRegistry, ToolRegistry } from "../core/ports/registries.ts";
import { Runs } from "../core/ports/runs.ts";
import { noStalls, Stalls } from "../core/ports/stalls.ts";
import { Telemetry } from "../core/ports/telemetry.ts";
import type { Provided, Token } from "../core/values/token.ts";
import { newWorkerName } from "../journal/worker.ts";
import { Admission } from "./access/admission.ts";
import { Refusals } from "./access/refusals.ts";
import { type Binding, type Lifetime, nameOf, needsOf } from "./build/bindings.ts";
import { Channels } from "./build/channels.ts";
import { Instances, Resolve, RunsLater, ShortLived } from "./build/instances.ts";
import { Memories } from "./build/memories.ts";
import { OpenRun, Pipelines } from "./build/pipelines.ts";
import { Providers } from "./build/providers.ts";
import { measuredReplacement } from "./build/replacements.ts";
import { Tools } from "./build/tool-registry.ts";
import { Config } from "./config/load.ts";
import { serviceLimits } from "./http/service-limits.ts";
import { HeldMemory } from "./memory/held-memory.ts";
import { ConfigRevision } from "./revisions/revision.ts";
import { OpenRevision, Revisions } from "./revisions/revisions.ts";
import { TakeUp, WorkerName } from "./runs/executor.ts";
import { RunPipeline } from "./runs/run-pipeline.ts";
import { HostRuns } from "./runs/runs.ts";
import { Sessions } from "./runs/sessions.ts";

/** All bindings and their lifetimes. Those without `use` or `make` are supplied when their container is created. */
export const bindings: readonly Binding[] = [
  { token: Clock, lifetime: "singleton" },
  { token: Chance, lifetime: "singleton", needs: [], make: () => systemChance },
  { token: Log, lifetime: "singleton" },
  { token: Telemetry, lifetime: "singleton" },
  { token: Stalls, lifetime: "singleton" },
  { token: Config, lifetime: "singleton" },
  { token: TakeUp, lifetime: "singleton" },
  { token: RunsLater, lifetime: "singleton" },
  { token: ShortLived, lifetime: "singleton" },
  { token: WorkerName, lifetime: "singleton" },
  { token: OpenRevision, lifetime: "singleton" },
  { token: Resolve, lifetime: "singleton" },
  { token: Instances, lifetime: "singleton", use: Instances },
  // A plugin, registered once its instance exists.
  { token: Journal, lifetime: "singleton" },
  {
    token: WriteWatch,
    lifetime: "singleton",
    needs: [Clock, Log, Telemetry],
    make: (clock: Clock, log: Log, telemetry: Telemetry) =>
      new WriteWatch({
        clock,
        log,
        onFailure: (operation) => telemetry.count("venturi.journal.write.failures", { operation }),
      }),
  },
  {
    token: Refusals,
    lifetime: "singleton",
    needs: [Clock, Log, Telemetry],
    make: (clock: Clock, log: Log, telemetry: Telemetry) => new Refusals({ clock, log, telemetry }),
  },
  { token: ChannelRegistry, lifetime: "singleton", use: Channels },
  { token: Revisions, lifetime: "singleton", use: Revisions },
  // For channels: the store of the current revision.
  {
    token: MemoryRegistry,
    lifetime: "singleton",
    needs: [Revisions],
    make: (revisions: Revisions): MemoryRegistry => ({
      names: () => revisions.current.memories.names(),
      get: (name) => revisions.current.memories.get(name),
    }),
  },
  { token: Sessions, lifetime: "singleton", needs: [Journal], make: (journal: Journal) => new Sessions(journal) },
  {
    token: Breakers,
    lifetime: "singleton",
    needs: [Clock, Log],
    make: (clock: Clock, log: Log) => new Breakers(clock, log),
  },
  { token: Members, lifetime: "singleton", needs: [Clock], make: (clock: Clock) => new Members(clock) },
  {
    token: ContentStore,
    lifetime: "singleton",
    needs: [Journal],
    make: ({ blobs }: Journal) => new ContentStore(blobs),
  },
  {
    token: Admission,
    lifetime: "singleton",
    needs: [Config, Clock, Telemetry],
    make: ({ limits }: Config, clock: Clock, telemetry: Telemetry) => {
      const waited = (ms: number) => telemetry.took("venturi.queue.wait", ms, { queue: "admission" });
      const admission = new Admission({ ...serviceLimits(limits), clock, waited });
      telemetry.observe("venturi.queue.depth", () => [{ value: admission.waiting }]);
      return admission;
    },
  },
  {
    token: Memory,
    lifetime: "singleton",
    needs: [Config, Refusals],
    make: ({ limits }: Config, refusals: Refusals) =>
      new HeldMemory(limits.memory, (error, tenant) => refusals.note(error, { id: tenant, tenant })),
  },
  { token: HostRuns, lifetime: "singleton", use: HostRuns },
  {
    token: Runs,
    lifetime: "singleton",
    needs: [Telemetry, HostRuns],
    make: (telemetry: Telemetry, runs: HostRuns) => telemetry.runs(runs),
  },
  { token: Config, lifetime: "revision" },
  { token: OpenRun, lifetime: "revision" },
  { token: Resolve, lifetime: "revision" },
  { token: Instances, lifetime: "revision", use: Instances },
  { token: ProviderRegistry, lifetime: "revision", use: Providers },
  { token: ToolRegistry, lifetime: "revision", use: Tools },
  { token: MemoryRegistry, lifetime: "revision", use: Memories },
  { token: StreamPipelines, lifetime: "revision", use: Pipelines },
  { token: ConfigRevision, lifetime: "revision", use: ConfigRevision },
  { token: PipelineWork, lifetime: "run" },
  { token: StreamPipeline, lifetime: "run", use: RunPipeline },
];

/** Grouped up front, because every run creates a container. */
const bound: Readonly<Record<Lifetime, readonly Binding[]>> = {
  singleton: bindings.filter(({ lifetime }) => lifetime === "singleton"),
  revision: bindings.filter(({ lifetime }) => lifetime === "revision"),
  run: bindings.filter(({ lifetime }) => lifetime === "run"),
};

const ofRuns: ReadonlySet<InjectionToken> = new Set(bound.run.map(({ token }) => token));

/** Tokens that `replace` may name. */
export const replaceable = bindings.map(({ token }) => token);

/** Tokens that plugins may resolve through their context. */
const shared: readonly Token<unknown>[] = [
  ProviderRegistry,
  ToolRegistry,
  MemoryRegistry,
  ChannelRegistry,
  StreamPipelines,
  Journal,
  Runs,
  Telemetry,
  Clock,
  Log,
];

export interface HostDeps {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly runs: RunsLater;
  readonly stalls?: Stalls;
  /** Generated when absent. */
  readonly worker?: string | undefined;
  readonly takeUp?: TakeUp;
  readonly shortLived?: boolean | undefined;
  /** Overrides bindings in every container that has them; replacements are instrumented too. */
  readonly replace?: readonly Provided[];
}

type Values = readonly (readonly [InjectionToken, unknown])[];

/** The composition root: the only file that registers bindings. These live as long as the process. */
export function hostContainer(deps: HostDeps): DependencyContainer {
  const { config, log, clock, telemetry, runs, stalls = noStalls, takeUp = "any", replace = [] } = deps;
  const host = container.createChildContainer();
  const scope = (
    parent: DependencyContainer,
    lifetime: Lifetime,
    values: Values,
    kept?: Map<InjectionToken, unknown>,
  ): DependencyContainer => {
    const child = lifetime === "singleton" ? parent : parent.createChildContainer();
    const given = new Map<unknown, unknown>(values);
    for (const each of replace) {
      if (!bound[lifetime].some(({ token }) => token === each.token)) continue;
      given.set(each.token, measuredReplacement(each, telemetry, (given.get(Config) as Config | undefined) ?? config));
    }
    for (const binding of bound[lifetime]) bind(child, binding, given, kept);
    return child;
  };
  const openRevision = (revised: Config): Promise<ConfigRevision> => {
    const kept = new Map<InjectionToken, unknown>();
    const openRun = (work: PipelineWork) =>
      scope(revision, "run", [[PipelineWork, work]], kept).resolve(StreamPipeline);
    const revision: DependencyContainer = scope(host, "revision", [
      [Config, revised],
      [Resolve, (token: Token<unknown>) => resolveShared(revision, token)],
      [OpenRun, openRun],
    ]);
    return revision.resolve(ConfigRevision).open();
  };
  return scope(host, "singleton", [
    [Config, config],
    [Log, log],
    [Clock, clock],
    [Telemetry, telemetry],
    [Stalls, stalls],
    [TakeUp, takeUp],
    [RunsLater, runs],
    [ShortLived, deps.shortLived === true],
    [WorkerName, deps.worker ?? newWorkerName()],
    [Resolve, (token: Token<unknown>) => resolveShared(host, token)],
    [OpenRevision, openRevision],
  ]);
}

/** The journal is a plugin, so it is registered once its instance exists. A replacement suppresses the instance. */
export async function provideJournal(host: DependencyContainer, open: () => Promise<Journal>): Promise<Journal> {
  if (!host.isRegistered(Journal)) host.register(Journal, { useValue: await open() });
  return host.resolve(Journal);
}

/**
 * Registers a binding: one lazily created instance per container. `kept`: instances that outlive this container, resolved once. A run's
 * pipeline needs twelve, and resolving them for each run allocated 5 kB.
 */
function bind(
  target: DependencyContainer,
  binding: Binding,
  given: ReadonlyMap<unknown, unknown>,
  kept?: Map<InjectionToken, unknown>,
): void {
  const { token, use, make } = binding;
  if (given.has(token)) return void target.register(token, { useValue: given.get(token) });
  // Under a private token, so that the instance belongs to this container whichever child resolves it first.
  const own = Symbol(nameOf(token));
  if (use !== undefined && kept !== undefined)
    target.register(own, { useFactory: () => new use(...(needsOf(binding).map(resolvedOnce) as never[])) });
  else if (use !== undefined) target.register(own, { useClass: use as new () => object });
  else if (make !== undefined)
    target.register(own, { useFactory: () => make(...(needsOf(binding).map(resolved) as never[])) });
  else return;
  let instance: unknown;
  target.register(token, {
    useFactory: () => {
      instance ??= target.resolve(own);
      return instance;
    },
  });
  function resolved(need: InjectionToken): unknown {
    return target.resolve(need);
  }
  function resolvedOnce(need: InjectionToken): unknown {
    if (kept === undefined || ofRuns.has(need)) return target.resolve(need);
    if (!kept.has(need)) kept.set(need, target.resolve(need));
    return kept.get(need);
  }
}

function resolveShared<T>(from: DependencyContainer, token: Token<T>): T {
  const op = "plugin.resolve";
  const name = token.description ?? "?";
  if (!shared.includes(token)) {
    const known = shared.map(({ description }) => description).join(", ");
    throw new VenturiError(op, "plugin_failed", `a plugin can't have ${name}; it may ask for: ${known}`);
  }
  if (from.isRegistered(token, true)) return from.resolve(token);
  throw new VenturiError(op, "plugin_failed", `there is no ${name} where this plugin is made, or not yet`);
}
