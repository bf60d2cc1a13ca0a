import type { AgentDefinition } from "../../src/agent/run/definition.ts";
import { guardHooks } from "../../src/agent/run/guard-hooks.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { PipelineWork, StreamPipelines } from "../../src/core/ports/pipeline.ts";
import type { Config } from "../../src/host/config/load.ts";
import type { ConfigRevision } from "../../src/host/revisions/revision.ts";
import type { Revisions } from "../../src/host/revisions/revisions.ts";
import { agentOf } from "../agent/harness.ts";
import type { Engine } from "./engine.ts";
import { guardOf } from "./guard.ts";
import type { Ledger } from "./ledger.ts";
import { modelOf, toolsOf } from "./model.ts";
import { budgetsOf, used } from "./money.ts";
import type { Recollection } from "./recollection.ts";
import type { Requests } from "./requests.ts";
import { skillOf } from "./skill.ts";
import type { Life } from "./world.ts";

interface DeploymentParts {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly requests: Requests;
  readonly memory: ReturnType<Recollection["serve"]>;
  readonly life: Life;
  readonly log: Log;
  readonly config: Config;
}

interface InUse {
  readonly revision: ConfigRevision;
  held: number;
  retired: boolean;
}

/** The configuration as one process has it: of the last reload, with older ones for the runs that began on them. */
export class Deployment {
  readonly #parts: DeploymentParts;
  #number: number;
  #current: InUse;
  /** Makes a pipeline with the agents of a revision. */
  open: (work: PipelineWork, revision: ConfigRevision) => ReturnType<StreamPipelines["open"]> = () => {
    throw new Error("not yet");
  };

  constructor(parts: DeploymentParts, number: number) {
    this.#parts = parts;
    this.#number = number;
    this.#current = this.#revisionOf(number);
  }

  /** For `HostRuns`. */
  get revisions(): Revisions {
    const current = () => this.#current;
    return {
      get current() {
        return current().revision;
      },
      acquire: () => {
        const held = current();
        held.held += 1;
        return { revision: held.revision, release: () => (held.held -= 1) };
      },
    } as unknown as Revisions; // as much of it as is used
  }

  reload(number: number): void {
    if (number <= this.#number) return;
    this.#number = number;
    this.#parts.engine.coverage.count(this.#current.held > 0 ? "reload under runs" : "reload");
    this.#current.retired = true;
    this.#current = this.#revisionOf(number);
  }

  #revisionOf(number: number): InUse {
    const { engine, ledger, requests, memory, life, log, config } = this.#parts;
    const { world, profile } = engine;
    const inUse = { revision: {} as ConfigRevision, held: 0, retired: false };
    const parts = { world, life, profile, ledger, requests, number, isCalm: () => engine.calm };
    const isClosed = () => inUse.retired && inUse.held === 0;
    const checked = (agent: AgentDefinition): AgentDefinition => ({
      ...agent,
      tools: () => {
        if (isClosed()) world.violated(`${life.name} uses revision ${number}, which is closed`);
        return agent.tools();
      },
    });
    const shared = { revision: `r${number}`, options: { maxTokens: used.outputTokens } };
    const active = profile.guarded === "none" ? [] : [guardOf(profile.guarded)];
    const guards = active.length === 0 ? {} : { guards: active };
    const hooks = [...guardHooks(active), ...(memory?.hooks ?? [])];
    const { failover, choose, sticky, hedgeAfter, contextTokens, compaction: by } = profile;
    const model = failover ? [modelOf(parts, "p0"), modelOf(parts, "p1")] : modelOf(parts);
    const routing = { choose, sticky, hedgeAfter: hedgeAfter === 0 ? undefined : hedgeAfter };
    const learned = profile.skilled ? skillOf(number) : undefined;
    const tester = checked({
      ...agentOf({
        model,
        tools: [...toolsOf(parts), ...(memory?.tools ?? []), ...(learned === undefined ? [] : [learned.tool])],
        chain: {
          retry: { max: 2 },
          ...(failover ? { failover: "retract", routing } : {}),
          ...(contextTokens === 0 ? {} : { contextTokens }),
        },
        policy: { grace: 1_000, approvalTimeout: 120_000, ...(profile.defers ? { defer: { above: 2 } } : {}) },
      }),
      name: "tester",
      ...(learned === undefined ? {} : { skills: learned.skills }),
      // Known, so that what is set aside does not depend on the histories before.
      ...shared,
      ...guards,
      ...(hooks.length === 0 ? {} : { hooks }),
      ...(contextTokens === 0 ? {} : { compaction: { by, at: 0.8, keep: 2 } }),
      ...(memory === undefined
        ? {}
        : { recall: { notes: memory.notes, scopes: [profile.session ? "session" : "agent"], top: 3 } }),
    });
    // Of schedules: nobody is there to answer its questions.
    const clockwork: AgentDefinition = {
      ...agentOf({ model: modelOf(parts), tools: [], chain: { retry: { max: 2 } } }),
      name: "clockwork",
      ...shared,
    };
    const newcomer = { ...tester, name: "newcomer" };
    const agents = number === 0 ? [tester, clockwork] : [tester, clockwork, newcomer];
    Object.assign(inUse.revision, {
      config,
      priceOf: () => undefined,
      agents: new Map(agents.map((each) => [each.name, each])),
      pipelines: { open: (work: PipelineWork) => this.open(work, inUse.revision) },
      ...(profile.budget === 0 ? {} : { budgets: budgetsOf(profile.budget, log) }),
    });
    return inUse;
  }
}

/** The rollout of a configuration: processes take it one after the other, some only when everything is calm. */
export class Rollout {
  readonly #engine: Engine;
  #newest = 0;

  constructor(engine: Engine, servers: () => readonly { readonly life: Life; readonly deployment: Deployment }[]) {
    this.#engine = engine;
    const { world, profile } = engine;
    if (!profile.reloads) return;
    const { decisions } = world;
    world.later(undefined, "a new configuration", decisions.below(15_000), () => {
      this.#newest = 1;
      for (const { life, deployment } of servers())
        if (!decisions.chance(0.3)) world.later(life, "reload", decisions.below(10_000), () => deployment.reload(1));
    });
  }

  /** What a process begins with: an old image may be started after the rollout. */
  get first(): number {
    const { calm, world } = this.#engine;
    return this.#newest > 0 && !calm && world.decisions.chance(0.3) ? this.#newest - 1 : this.#newest;
  }

  /** Nobody lags any more. */
  complete(servers: readonly { readonly deployment: Deployment }[]): void {
    for (const { deployment } of servers) deployment.reload(this.#newest);
  }
}
