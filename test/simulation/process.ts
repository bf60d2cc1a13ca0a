import { Breakers } from "../../src/agent/run/breaker.ts";
import { ContentStore } from "../../src/agent/run/content.ts";
import { Members } from "../../src/agent/run/members.ts";
import type { VenturiError } from "../../src/core/errors/errors.ts";
import type { SignalFeed } from "../../src/core/journal/run-log.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { PipelineWork } from "../../src/core/ports/pipeline.ts";
import { noStalls } from "../../src/core/ports/stalls.ts";
import { noTelemetry } from "../../src/core/ports/telemetry.ts";
import { Admission } from "../../src/host/access/admission.ts";
import type { Config } from "../../src/host/config/load.ts";
import { HeldMemory } from "../../src/host/memory/held-memory.ts";
import type { ConfigRevision } from "../../src/host/revisions/revision.ts";
import { RunPipeline } from "../../src/host/runs/run-pipeline.ts";
import { HostRuns } from "../../src/host/runs/runs.ts";
import { Sessions } from "../../src/host/runs/sessions.ts";
import { WriteWatch } from "../../src/journal/write-watch.ts";
import { connect } from "./connection.ts";
import { Deployment, type Rollout } from "./deployment.ts";
import type { Engine } from "./engine.ts";
import type { Ledger } from "./ledger.ts";
import type { Recollection } from "./recollection.ts";
import type { Requests } from "./requests.ts";
import type { Timetable } from "./timetable.ts";
import type { Life } from "./world.ts";

export interface Server {
  readonly slot: number;
  readonly life: Life;
  readonly runs: HostRuns;
  readonly memory: HeldMemory;
  readonly deployment: Deployment;
  /** Ends what it does by the clock. */
  readonly stop: () => Promise<void>;
}

interface BootParts {
  readonly ledger: Ledger;
  readonly requests: Requests;
  readonly recollection: Recollection;
  readonly timetable: Timetable;
  readonly rollout: Rollout;
}

/** A process of the service: everything between its sockets and its journal is the product's own code. */
export function boot(
  engine: Engine,
  { ledger, requests, recollection, timetable, rollout }: BootParts,
  { slot, number }: { slot: number; number: number },
): Server {
  const { world, profile } = engine;
  const life = world.birth(`w${slot}.${number}`);
  world.note(`boot ${life.name}`);
  const clock = life.clock(slot === 1 ? profile.skew : 0);
  const journal = connect(engine, life);
  const log = logOf(engine, life);
  const writes = new WriteWatch({ clock, log });
  const content = new ContentStore(undefined);
  const sessions = new Sessions(journal);
  const breakers = new Breakers(clock);
  const members = new Members(clock);
  const config = {
    limits: { activeRuns: profile.activeRuns, metadata: 8_192, body: 1_000_000 },
    telemetry: { logs: {} },
    guards: {},
  } as unknown as Config; // as much of it as is read
  const memories = recollection.serve({ life, clock, journal, runs: () => runs });
  const deployment = new Deployment({ engine, ledger, requests, memory: memories, life, log, config }, rollout.first);
  engine.agentsOf.set(life.name, () => deployment.revisions.current.agents);
  const notHere = (): never => {
    throw new Error("no agent plays a tool here");
  };
  deployment.open = (work: PipelineWork, revision: ConfigRevision) => {
    if (runs.active > profile.activeRuns)
      world.violated(`${life.name} executes ${runs.active} runs, and may execute ${profile.activeRuns}`);
    return new RunPipeline(
      { ...work, signals: inOrder(work.signals, (what) => world.violated(`${life.name}: ${what}`)) },
      revision,
      sessions,
      breakers,
      members,
      content,
      clock,
      log,
      noStalls,
      journal,
      life.chance,
      writes,
      notHere,
    );
  };
  const memory: HeldMemory = new HeldMemory(profile.memory, (error, tenant) =>
    checkShare(engine, memory, { error, tenant }),
  );
  const admission = new Admission({ activeRuns: profile.activeRuns, queue: 100, queueWait: 10_000, clock });
  const runs = new HostRuns(
    config,
    journal,
    deployment.revisions,
    content,
    sessions,
    admission,
    noTelemetry,
    clock,
    log,
    life.name,
    "any",
    memory,
    writes,
    life.chance,
  );
  const opening = () =>
    runs.open().catch((thrown: unknown) => {
      // The program would exit and be started again.
      world.note(`${life.name} could not start: ${thrown}`);
      world.later(life, "starts again", 1_000, opening);
    });
  void opening();
  const stop = timetable.serve({ life, clock, log, journal, runs });
  return { slot, life, runs, memory, deployment, stop };
}

/** An execution gets all signals of its run in order: a skipped one counts as seen and is never delivered again. */
const inOrder = (feed: SignalFeed, violated: (what: string) => void): SignalFeed => ({
  subscribe(after, callback) {
    let last = after;
    return feed.subscribe(after, (signal) => {
      if (signal.number !== last + 1) violated(`signal ${signal.number} is delivered after ${last}`);
      last = signal.number;
      callback(signal);
    });
  },
});

/** A tenant with less than its part of a process's memory is never refused, however much the others hold. */
function checkShare(
  { world, profile, coverage }: Engine,
  memory: HeldMemory,
  { error, tenant }: { error: VenturiError; tenant: string },
): void {
  coverage.count("refused for memory");
  const others = [...memory.tenants.keys()].filter((other) => other !== tenant).length;
  const wanted = Number(error.details?.value);
  // One more than there are may come.
  if (wanted <= profile.memory / (others + 2))
    world.violated(`${tenant} is refused ${wanted} bytes of ${profile.memory}, which ${others} others share`);
}

function logOf({ world, coverage }: Engine, life: Life): Log {
  const write = (level: string) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
    coverage.count(`log: ${message}`);
    if (fields?.code === "internal") world.violated(`${life.name}: ${message}: ${fields.error}`);
    if (level === "error" || level === "warn")
      world.note(`${life.name} ${level}: ${message} ${JSON.stringify(fields ?? {})}`);
  };
  return { debug: () => {}, info: write("info"), warn: write("warn"), error: write("error") };
}
