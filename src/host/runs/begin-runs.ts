import type { z } from "zod";
import { checkFields } from "../../agent/model/fit.ts";
import type { ContentStore } from "../../agent/run/content.ts";
import { screenInput } from "../../agent/run/screen-input.ts";
import { listedOf } from "../../agent/run/skills.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Journal, Recording } from "../../core/journal/journal.ts";
import type { Chance } from "../../core/ports/chance.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { inputWeight, type Memory } from "../../core/ports/held.ts";
import type { Runs, StartOptions } from "../../core/ports/runs.ts";
import type { ForkRequest } from "../../core/run/fork.ts";
import { keyedRunId, newRunId } from "../../core/run/run-id.ts";
import { defaultTenant, type RunRequest } from "../../core/run/run-request.ts";
import { valueSize } from "../../core/values/value-size.ts";
import { heldRun } from "../../journal/history.ts";
import { isOfAgents, noSession } from "../../journal/session-agents.ts";
import { StartTurns } from "../../journal/start-turns.ts";
import type { Config } from "../config/load.ts";
import type { Revisions } from "../revisions/revisions.ts";
import type { AgentFrames } from "./agent-frames.ts";
import { checkNotify } from "./check-notify.ts";
import { checkRequest } from "./check-request.ts";
import type { Executor, Owner } from "./executor.ts";
import { existingRun } from "./existing-run.ts";
import { checkFork, forkedRequest, forkRecording, forkSource, mustBeNew, shareContent } from "./fork.ts";
import { checked, keptRequest } from "./kept-request.ts";
import { userOf } from "./user-of.ts";

interface BeginDeps {
  readonly journal: Journal;
  readonly revisions: Revisions;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly config: Config;
  readonly content: ContentStore;
  readonly executor: Executor;
  readonly frames: AgentFrames;
  readonly memory: Memory;
}

/** Starts runs: requested ones, and forks. */
export class BeginRuns {
  readonly #deps: BeginDeps;
  readonly #turns: StartTurns;
  #draining = false;

  constructor(deps: BeginDeps) {
    this.#deps = deps;
    this.#turns = new StartTurns(deps.clock);
  }

  /** Refuses new runs from now on. */
  stop(): void {
    this.#draining = true;
  }

  async start(request: RunRequest, options: StartOptions = {}): ReturnType<Runs["start"]> {
    // Of a burst the run's time includes the wait for its turn.
    const at = this.#deps.clock.now() - (options.waitedMs ?? 0);
    const turn = this.#turns.take();
    if (turn !== undefined) await turn;
    this.#mustAccept("run.start");
    const { agent, input: asked, context } = this.#check(request, options);
    const { value: input, verdicts } = screenInput(agent.guards, asked);
    if (options.compat === "strict") checkFields(agent, request);
    this.#deps.frames.keep(agent);
    checkNotify(this.#deps.config, request, options.tenant ?? defaultTenant);
    const run = newRunId(Math.floor(at), this.#deps.chance.uuid());
    const stored = await keptRequest(this.#deps.content, run, checked(this.#deps.content, { ...request, input }));
    const { tenant, caller, user, shadow } = await this.#owner(request, options);
    await this.#maySpeakIn(request.session, { tenant, agents: caller?.agents });
    const claimant = this.#deps.executor.claimant({ ...request, agent: agent.name });
    const held = options.held?.share();
    const enqueued = await this.#deps.journal
      .enqueue({
        run,
        tenant,
        session: request.session,
        request: {
          ...stored,
          agent: agent.name,
          revision: agent.revision,
          ...(verdicts.length === 0 ? {} : { guarded: verdicts }),
          ...(context === undefined ? {} : { context }),
          ...(caller === undefined ? {} : { caller }),
          ...(user === undefined ? {} : { user }),
          ...(shadow === undefined ? {} : { shadow }),
        },
        whenBusy: agent.whenBusy,
        ...(options.key === undefined ? {} : { key: options.key }),
        ...(claimant === undefined ? {} : { claimFor: claimant.worker }),
      })
      .catch((thrown: unknown) => {
        held?.release();
        claimant?.release();
        throw thrown;
      });
    if (!enqueued.existing) this.#deps.executor.started(run, agent.name, options);
    if (enqueued.claim) this.#deps.executor.offer(enqueued.claim, held);
    else held?.release();
    claimant?.release();
    return { run: enqueued.run, existing: enqueued.existing };
  }

  async fork(run: string, request: z.input<typeof ForkRequest>, options: StartOptions = {}): Promise<{ run: string }> {
    this.#mustAccept("run.fork");
    const asked = checkFork(request);
    if (typeof asked.input === "object") this.#deps.content.check(asked.input.messages ?? []);
    const { journal, clock, chance } = this.#deps;
    const source = await forkSource(journal, heldRun(journal, run)?.row ?? (await existingRun(journal, run)), asked);
    const { tenant = source.row.tenant, shadow } = options;
    const held = this.#deps.memory.of(tenant).charge(valueSize(source.prefix) * inputWeight, "fork");
    try {
      if (asked.session !== undefined) await mustBeNew(journal, tenant, asked.session);
      const own = { ...forkedRequest(source, asked), ...(shadow === undefined ? {} : { shadow }) };
      const user = shadow === undefined ? userOf(own, options.caller?.id) : undefined;
      const wanted = user === undefined ? own : { ...own, user };
      const { agent, input: given } = this.#check(wanted);
      const { value: input, verdicts } = screenInput(agent.guards, given);
      const forked = options.key === undefined ? newRunId(clock.now(), chance.uuid()) : keyedRunId(tenant, options.key);
      const target = { run: forked, tenant, caller: options.caller, now: clock.now(), ...listedOf(agent.skills) };
      const fork = {
        asked,
        request: await keptRequest(this.#deps.content, forked, {
          ...wanted,
          agent: agent.name,
          input,
          ...(verdicts.length === 0 ? {} : { guarded: verdicts }),
        }),
        target,
      };
      const recording = await forkRecording(journal, source, fork);
      await shareContent(journal, recording, source.runs);
      const begun = shadow === undefined ? this.#restore(recording) : this.#startHere(recording);
      await begun.catch(async (thrown: unknown) => {
        // The same fork was started before.
        const known = options.key === undefined ? undefined : await journal.get(forked);
        if (known?.request.fork?.run !== run) throw thrown;
      });
      return { run: forked };
    } finally {
      held.release();
    }
  }

  async #restore(recording: Recording): Promise<void> {
    await this.#deps.journal.restore(recording);
    this.#deps.executor.look();
  }

  /**
   * As `#restore`, but stored and claimed in one transaction, which it shares with other starts. The copied events are stored with the
   * fork's end: after a crash it begins without them.
   */
  async #startHere(recording: Recording): Promise<void> {
    const { journal, executor } = this.#deps;
    const { run, tenant, session, request, events, signals } = recording;
    const claimant = signals.length > 0 ? undefined : executor.claimant(request);
    if (claimant === undefined) return await this.#restore(recording);
    try {
      const { claim } = await journal.enqueue({ run, tenant, session, request, claimFor: claimant.worker });
      executor.started(run, request.agent, {});
      if (claim !== undefined) executor.offer(claim, undefined, events);
    } finally {
      claimant.release();
    }
  }

  #mustAccept(op: string): void {
    if (!this.#draining) return;
    throw new VenturiError(op, "shutting_down", "the service is shutting down and accepts no new runs");
  }

  #check(request: RunRequest, { context }: StartOptions = {}) {
    const { revisions, config } = this.#deps;
    return checkRequest(revisions.current.agents, request, { metadata: config.limits.metadata, context });
  }

  /** Whoever takes up the run checks again: another agent's may get into the session before it. */
  async #maySpeakIn(session: string | undefined, of: { tenant: string; agents: readonly string[] | undefined }) {
    const { tenant, agents } = of;
    if (session === undefined || agents === undefined) return;
    if (!(await isOfAgents(this.#deps.journal, { tenant, session }, agents))) throw noSession(session);
  }

  /** A sub-run inherits its parent's tenant and caller. */
  async #owner(asked: RunRequest, options: StartOptions): Promise<Owner> {
    const { parent } = asked;
    if (parent === undefined) {
      const { caller, shadow } = options;
      const user = shadow === undefined ? userOf(asked, caller?.id) : undefined;
      return { tenant: options.tenant ?? defaultTenant, caller, user, shadow };
    }
    const known = this.#deps.executor.ownerOf(parent.run);
    if (known !== undefined) return known;
    const { tenant, request } = await existingRun(this.#deps.journal, parent.run);
    return { tenant, caller: request.caller, user: request.user, shadow: request.shadow };
  }
}
