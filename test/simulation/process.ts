import { Breakers } from "../../src/agent/run/breaker.ts";
import { ContentStore } from "../../src/agent/run/content.ts";
import type { AgentDefinition } from "../../src/agent/run/definition.ts";
import { Members } from "../../src/agent/run/members.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { PipelineWork } from "../../src/core/ports/pipeline.ts";
import { noStalls } from "../../src/core/ports/stalls.ts";
import { noTelemetry } from "../../src/core/ports/telemetry.ts";
import { Admission } from "../../src/host/access/admission.ts";
import type { Config } from "../../src/host/config/load.ts";
import { HeldMemory } from "../../src/host/memory/held-memory.ts";
import type { ConfigRevision } from "../../src/host/revisions/revision.ts";
import type { Revisions } from "../../src/host/revisions/revisions.ts";
import { RunPipeline } from "../../src/host/runs/run-pipeline.ts";
import { HostRuns } from "../../src/host/runs/runs.ts";
import { Sessions } from "../../src/host/runs/sessions.ts";
import { WriteWatch } from "../../src/journal/write-watch.ts";
import { agentOf } from "../agent/harness.ts";
import { connect } from "./connection.ts";
import type { Engine } from "./engine.ts";
import type { Ledger } from "./ledger.ts";
import { modelOf, toolsOf } from "./model.ts";
import { budgetsOf, used } from "./money.ts";
import type { Timetable } from "./timetable.ts";
import type { Life } from "./world.ts";

export interface Server {
  readonly slot: number;
  readonly life: Life;
  readonly runs: HostRuns;
  readonly memory: HeldMemory;
  /** Ends what it does by the clock. */
  readonly stop: () => Promise<void>;
}

/** A process of the service: everything between its sockets and its journal is the product's own code. */
export function boot(
  engine: Engine,
  { ledger, timetable }: { ledger: Ledger; timetable: Timetable },
  { slot, number }: { slot: number; number: number },
): Server {
  const { world, profile } = engine;
  const life = world.birth(`w${slot}.${number}`);
  world.note(`boot ${life.name}`);
  const clock = life.clock(slot === 1 ? profile.skew : 0);
  const journal = connect(engine, life);
  const log = logOf(engine, life);
  const writes = new WriteWatch({ clock, log });
  const parts = { world, life, profile, ledger, isCalm: () => engine.calm };
  const agent: AgentDefinition = {
    ...agentOf({
      model: modelOf(parts),
      tools: toolsOf(parts),
      chain: { retry: { max: 2 } },
      policy: { grace: 1_000, approvalTimeout: 120_000 },
    }),
    name: "tester",
    // Known, so that what is set aside does not depend on the histories before.
    options: { maxTokens: used.outputTokens },
  };
  // Of schedules: nobody is there to answer its questions.
  const clockwork: AgentDefinition = {
    ...agentOf({ model: modelOf(parts, "talks"), tools: [], chain: { retry: { max: 2 } } }),
    name: "clockwork",
    options: { maxTokens: used.outputTokens },
  };
  const content = new ContentStore(undefined);
  const sessions = new Sessions(journal);
  const breakers = new Breakers(clock);
  const members = new Members(clock);
  const config = {
    limits: { activeRuns: 100, metadata: 8_192, body: 1_000_000 },
    telemetry: { logs: {} },
    guards: {},
  } as unknown as Config; // as much of it as is read
  const revision = {
    config,
    priceOf: () => undefined,
    agents: new Map([agent, clockwork].map((each) => [each.name, each])),
    ...(profile.budget === 0 ? {} : { budgets: budgetsOf(profile.budget, log) }),
  } as unknown as ConfigRevision;
  const notHere = (): never => {
    throw new Error("no agent plays a tool here");
  };
  const open = (work: PipelineWork) =>
    new RunPipeline(
      work,
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
  Object.assign(revision, { pipelines: { open } });
  const revisions = { current: revision, acquire: () => ({ revision, release: () => {} }) } as unknown as Revisions;
  const memory = new HeldMemory(1_000_000_000);
  const admission = new Admission({ activeRuns: 100, queue: 100, queueWait: 10_000, clock });
  const runs = new HostRuns(
    config,
    journal,
    revisions,
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
  return { slot, life, runs, memory, stop };
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
