import type { Breakers } from "../../agent/run/breaker.ts";
import type { AgentDefinition } from "../../agent/run/definition.ts";
import { messageOf } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Inspect, ServiceView } from "../../core/ports/inspect.ts";
import type { Approval, Tool } from "../../core/ports/tool.ts";
import { toFixture } from "../../journal/fixture.ts";
import type { WriteWatch } from "../../journal/write-watch.ts";
import type { Config } from "../config/load.ts";
import { showYaml } from "../config/show.ts";
import type { Siblings } from "../processes/siblings.ts";
import { addRun, datasetNames } from "../recordings/datasets.ts";
import type { ConfigRevision } from "../revisions/revision.ts";
import { ownVersion } from "../system/version.ts";
import type { Backlog } from "./backlog.ts";
import { wireMask } from "./mask-wire.ts";
import { every, type Series } from "./series.ts";
import { decodeWire, wireNamed } from "./wires.ts";

export interface InspectionDeps {
  readonly host: {
    readonly journal: Journal;
    readonly writes: Pick<WriteWatch, "failing">;
    readonly backlog: Backlog;
    readonly worker: string;
    readonly clock: Clock;
    revision(): ConfigRevision;
    eventLoop(): { readonly blockedMs: number; readonly longestMs: number };
    active(): number;
  };
  readonly breakers: Breakers;
  readonly series: Series;
  readonly followers: () => number;
  /** Number of runs on replaced revisions. */
  readonly runsOnOld: () => number;
  readonly startedAt: number;
  readonly siblings: Pick<Siblings, "states"> | undefined;
}

/** The service's view of itself: state, processes, workers, samples. */
export function inspection(deps: InspectionDeps): Inspect {
  const { host, series } = deps;
  return {
    service: ({ config }) => serviceView(deps, config ? "config" : "none"),
    series: (after) => ({ every, samples: series.after(after) }),
    decode: async (kept) =>
      decodeWire(await wireNamed("run.wires", host.revision().config.loader, kept.wire), maskOf(host.revision())(kept)),
    mask: (kept) => maskOf(host.revision())(kept),
    datasets: (tenant) => datasetNames(host.revision().config, tenant),
    addToDataset: (item) => addRun(host.revision().config, host.journal, item),
    fixture: async (events) => {
      const { stringify } = await import("yaml");
      return stringify(toFixture(events), { lineWidth: 0 });
    },
  };
}

async function serviceView(deps: InspectionDeps, shown: "config" | "none"): Promise<ServiceView> {
  const { host, breakers, followers, runsOnOld, startedAt } = deps;
  const { config, agents, held } = host.revision();
  const ping = await pinged(host);
  const { journal } = config;
  return {
    version: ownVersion(),
    node: process.versions.node,
    process: process.pid,
    startedAt,
    uptimeMs: host.clock.now() - startedAt,
    ready: ping.reason === undefined,
    ...(ping.reason === undefined ? {} : { reason: ping.reason }),
    revision: { hash: config.hash, file: config.file, runs: held, runsOnOld: runsOnOld() },
    journal: {
      type: journal.type,
      digests: host.journal.keepDigest !== undefined,
      ...(ping.ms === undefined ? {} : { pingMs: ping.ms }),
    },
    eventLoop: { ...host.eventLoop() },
    runs: { active: host.active(), followers: followers() },
    ...(await backlogOf(host.backlog)),
    processes: await processesOf(deps),
    replicas: await replicasOf(deps),
    agents: [...agents.keys()],
    providers: Object.entries(config.providers).map(([name, { type }]) => {
      const { state, leftMs, open, lastError } = breakers.view(name);
      return {
        name,
        type,
        breaker: state,
        leftMs,
        ...(open.length === 0 ? {} : { open: open.map((circuit) => ({ ...circuit })) }),
        ...(lastError === undefined ? {} : { lastError }),
      };
    }),
    models: Object.entries(config.models).map(([name, { chain, split }]) => ({
      name,
      chain: split === undefined ? [...chain] : Object.keys(split),
    })),
    tools: toolsOf(agents),
    channels: Object.entries(config.channels).map(([name, { type }]) => ({ name, type })),
    plugins: usedPlugins(config),
    ...(shown === "config" ? { config: showYaml(config) } : {}),
  };
}

async function backlogOf(backlog: Backlog): Promise<Pick<ServiceView, "backlog">> {
  const rows = await backlog.rows().catch(() => undefined); // `ready` reports a journal that does not respond.
  if (rows === undefined) return {};
  const inState = (state: string) =>
    rows.filter((row) => row.state === state).reduce((sum, { runs }) => sum + Number(runs), 0);
  const unexecutable = backlog.stranded(rows);
  return {
    backlog: { ready: inState("ready"), running: inState("running"), waiting: inState("waiting"), unexecutable },
  };
}

/** One mask per revision, since the secrets come from its configuration. */
const masks = new WeakMap<ConfigRevision, ReturnType<typeof wireMask>>();
function maskOf(revision: ConfigRevision): ReturnType<typeof wireMask> {
  const known = masks.get(revision) ?? wireMask(revision.config);
  masks.set(revision, known);
  return known;
}

async function processesOf({ host, siblings, startedAt }: InspectionDeps): Promise<ServiceView["processes"]> {
  const own = { number: 1, pid: process.pid, status: "ready", startedAt, restarts: 0, runs: host.active() };
  // If the supervisor does not answer, report only this process.
  const states = await siblings?.states().catch(() => undefined);
  return states?.map((state) => ({ ...state })) ?? [own];
}

async function replicasOf({ host }: InspectionDeps): Promise<ServiceView["replicas"]> {
  const rows = await host.journal.workers?.().catch(() => undefined);
  if (rows === undefined) return { known: false, workers: [] };
  const workers = rows.map(({ worker: name, silentMs, runs }) => {
    const pid = /^(\d+)-/.exec(name)?.[1];
    const known = { name, silentMs: Math.max(0, Math.round(silentMs)), runs: Number(runs) };
    return {
      ...known,
      ...(pid === undefined ? {} : { pid: Number(pid) }),
      own: name === host.worker,
      alive: silentMs <= host.journal.lease,
    };
  });
  return { known: true, workers };
}

async function pinged({ journal, clock, writes }: InspectionDeps["host"]): Promise<{ ms?: number; reason?: string }> {
  const start = clock.monotonic();
  try {
    await journal.ping();
    if (writes.failing !== undefined) return { reason: `the journal takes no writes: ${writes.failing.message}` };
    return { ms: Math.round((clock.monotonic() - start) * 1_000) / 1_000 };
  } catch (thrown) {
    return { reason: messageOf(thrown) };
  }
}

function toolsOf(agents: ReadonlyMap<string, AgentDefinition>): ServiceView["tools"] {
  const tools = new Map<string, { tool: Tool; agents: string[] }>();
  for (const agent of agents.values()) {
    for (const tool of agent.tools()) {
      const known = tools.get(tool.name) ?? { tool, agents: [] };
      known.agents.push(agent.name);
      tools.set(tool.name, known);
    }
  }
  return [...tools.values()].map(({ tool, agents: users }) => ({
    name: tool.name,
    description: tool.description,
    effect: tool.effect ?? "effectful",
    approval: approvalText(tool.approval),
    agents: users,
  }));
}

function approvalText(approval: Approval | ((...args: never[]) => unknown) | undefined): string {
  if (approval === undefined) return "never";
  if (typeof approval === "string") return approval;
  return typeof approval === "function"
    ? "decided by the tool"
    : approval.when === undefined
      ? "always"
      : `when ${approval.when}`;
}

const usedPlugins = ({ providers, tools, channels, journal }: Config): string[] => {
  const entries = [...Object.values(providers), ...Object.values(tools), ...Object.values(channels), journal];
  return [...new Set(entries.map(({ type }) => type))].sort();
};
