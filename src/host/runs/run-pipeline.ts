import { Chance } from "../../core/ports/chance.ts";
import "reflect-metadata";
import { inject, injectable } from "tsyringe";
import { Breakers } from "../../agent/run/breaker.ts";
import { CallWatch } from "../../agent/run/call-watch.ts";
import { ContentStore } from "../../agent/run/content.ts";
import type { AgentDefinition } from "../../agent/run/definition.ts";
import { forCall } from "../../agent/run/for-call.ts";
import { Members } from "../../agent/run/members.ts";
import { type SplitKey, withoutSplits } from "../../agent/run/split.ts";
import { Waits } from "../../agent/run/waits.ts";
import { runAgent } from "../../agent/run-agent.ts";
import { inputMessages } from "../../agent/state/input-messages.ts";
import { continuedBy } from "../../agent/state/session-messages.ts";
import { VenturiError, wrap } from "../../core/errors/errors.ts";
import { Journal } from "../../core/journal/journal.ts";
import { Clock } from "../../core/ports/clock.ts";
import { Log } from "../../core/ports/log.ts";
import { PipelineWork, type StreamPipeline } from "../../core/ports/pipeline.ts";
import { Stalls } from "../../core/ports/stalls.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { timingUntil } from "../../core/run/timing.ts";
import { WriteWatch } from "../../journal/write-watch.ts";
import { RunsLater } from "../build/instances.ts";
import { ConfigRevision } from "../revisions/revision.ts";
import { endIfCancelled } from "./cancelled-elsewhere.ts";
import { forkedAgents } from "./forked-agent.ts";
import { queueTime } from "./queue-time.ts";
import { quietLog } from "./quiet-log.ts";
import { Sessions } from "./sessions.ts";

/** A run that only waits for approval gives up its slot after this time, ms. */
const parkAfter = 1_000;

/** Executes one run with the agents of its revision. */
@injectable()
export class RunPipeline implements StreamPipeline {
  readonly #work: PipelineWork;
  readonly #revision: ConfigRevision;
  readonly #sessions: Sessions;
  readonly #breakers: Breakers;
  readonly #members: Members;
  readonly #content: ContentStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #stalls: Stalls;
  readonly #journal: Journal;
  readonly #writes: WriteWatch;
  readonly #chance: Chance;
  readonly #runs: RunsLater;

  constructor(
    @inject(PipelineWork) work: PipelineWork,
    @inject(ConfigRevision) revision: ConfigRevision,
    @inject(Sessions) sessions: Sessions,
    @inject(Breakers) breakers: Breakers,
    @inject(Members) members: Members,
    @inject(ContentStore) content: ContentStore,
    @inject(Clock) clock: Clock,
    @inject(Log) log: Log,
    @inject(Stalls) stalls: Stalls,
    @inject(Journal) journal: Journal,
    @inject(Chance) chance: Chance,
    @inject(WriteWatch) writes: WriteWatch,
    @inject(RunsLater) runs: RunsLater,
  ) {
    this.#work = work;
    this.#revision = revision;
    this.#sessions = sessions;
    this.#breakers = breakers;
    this.#members = members;
    this.#content = content;
    this.#clock = clock;
    this.#log = log;
    this.#stalls = stalls;
    this.#journal = journal;
    this.#chance = chance;
    this.#writes = writes;
    this.#runs = runs;
  }

  async run(): Promise<void> {
    const leave = this.#stalls.watch();
    try {
      await this.#run();
    } finally {
      leave();
    }
  }

  async #run(): Promise<void> {
    const { claim, log, history, signals, release, interrupt, gate, reader } = this.#work;
    const { tenant, request } = claim;
    const watch = this.#watch();
    const found = this.#revision.agents.get(request.agent);
    if (found === undefined) return await endIfCancelled(this.#work);
    const key = { tenant, request, run: claim.ownership.run };
    const fitting = agentFor(found, key);
    if (fitting instanceof VenturiError) return await this.#failEarly(fitting);
    const { fork } = request;
    const forked =
      fork === undefined ? undefined : await forkedAgents(this.#journal, { fork, history, runs: this.#runs });
    const seen = (agent: AgentDefinition) => forked?.(agent) ?? agent;
    const own = seen(fitting);
    const agent = fork?.instructions === undefined ? own : { ...own, instructions: fork.instructions };
    const { session, caller: { agents } = {} } = request;
    const host = { journal: this.#journal, clock: this.#clock };
    const meter = this.#revision.budgets?.meter(claim, this.#work.billing, host);
    const { run } = claim.ownership;
    const waits = new Waits(this.#clock, this.#stalls, {
      trouble: (since) => this.#writes.failedSince(since),
      tenant,
    });
    this.#work.live?.(() => waits.current);
    const queued = history.length > 0 ? undefined : await queueTime(claim, this.#journal, this.#work.now());
    const turn = { tenant, run, agents, begun: history.length > 0 };
    const { agentPause } = this.#work;
    const queuedPaused = queued === undefined ? undefined : this.#work.queuedPaused?.();
    // Not awaited here: what this function holds would stay in memory as long as the run.
    return runAgent(
      {
        agent,
        agentNamed: (name) => {
          const named = this.#revision.agents.get(name);
          return named && seen(withoutSplits(forCall(named, callOf(request)), key));
        },
        request,
        runLog: watch?.around(log) ?? log,
        history,
        tenant,
        session:
          session === undefined
            ? []
            : continuedBy(await this.#sessions.before({ ...turn, session }), inputMessages(request.input)),
        clock: this.#clock,
        chance: this.#chance,
        log: request.shadow === undefined ? this.#log : quietLog(this.#log),
        breakers: this.#breakers,
        members: this.#members,
        ...(session === undefined ? {} : { lastModel: this.#sessions.lastModel({ tenant, session }) }),
        priceOf: this.#revision.priceOf,
        ...(meter === undefined ? {} : { meter }),
        parkAfter,
        stalls: this.#stalls,
        waits,
        now: this.#work.now,
        content: this.#content,
        ...(watch === undefined ? {} : { watch }),
        ...(queued === undefined ? {} : { queued }),
        ...(queuedPaused === undefined ? {} : { queuedPaused }),
        ...(agentPause === undefined ? {} : { agentPause }),
        ...(gate === undefined ? {} : { gate }),
        ...(reader === undefined ? {} : { reader }),
      },
      { feed: signals, release, interrupt },
    );
  }

  /** Only for a run that asked for debugging, or when the log has debug lines. */
  #watch(): CallWatch | undefined {
    const { ownership, request } = this.#work.claim;
    const { level } = this.#revision.config.telemetry.logs;
    if (level === "debug") return new CallWatch(this.#log, ownership.run);
    return request.debug === true ? new CallWatch(this.#log.verbose ?? this.#log, ownership.run) : undefined;
  }

  async #failEarly(error: VenturiError): Promise<void> {
    const { claim, log, history } = this.#work;
    const { agent, input } = claim.request;
    if (history.length === 0) log.write({ type: "run.started", agent, input });
    const timing = timingUntil(history, this.#work.now());
    await log.step({ type: "run.failed", error: error.toJSON(), output: "", usage: {}, rounds: 0, timing });
  }
}

/** The request for an agent the run is handed to: the requested model applied to the first agent only. */
const callOf = ({ model: _, ...request }: RunRequest): RunRequest => request;

/** The agent may have changed while the run waited, and may no longer allow its overrides. */
function agentFor(
  agent: AgentDefinition,
  key: SplitKey & { readonly request: RunRequest },
): AgentDefinition | VenturiError {
  try {
    return withoutSplits(forCall(agent, key.request), key);
  } catch (thrown) {
    return wrap("agent.run", thrown);
  }
}
