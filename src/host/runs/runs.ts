import "reflect-metadata";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { inject, injectable } from "tsyringe";
import type { z } from "zod";
import { ContentStore } from "../../agent/content.ts";
import type { AgentDefinition } from "../../agent/definition.ts";
import { checkCall, forCall, needsOf } from "../../agent/for-call.ts";
import { checkInput, inputSchema } from "../../agent/inputs.ts";
import { checkContext } from "../../agent/live-context.ts";
import { checkCapabilities } from "../../agent/model/capabilities.ts";
import { countInput } from "../../agent/model/count.ts";
import { checkFields } from "../../agent/model/fit.ts";
import { jsonSchemaOf } from "../../agent/schema/standard.ts";
import { specOf, ToolTable } from "../../agent/tools/tool-table.ts";
import { Clock } from "../../core/clock.ts";
import { messageOf, VenturiError } from "../../core/errors.ts";
import type { EventOf, RunEvent, RunInput } from "../../core/events.ts";
import type { FeedItem, FeedQuery } from "../../core/feed.ts";
import type { ForkRequest } from "../../core/fork.ts";
import {
  type ClaimFilter,
  defaultTenant,
  Journal,
  type KeptWire,
  type ListQuery,
  type RunLog,
  type RunRequest,
  type RunRow,
} from "../../core/journal.ts";
import { Log } from "../../core/log.ts";
import type {
  AgentInfo,
  CountOptions,
  Embedded,
  EmbedInput,
  EventPage,
  EventQuery,
  FollowOptions,
  PendingApproval,
  Runs,
  StartOptions,
  TokenCount,
} from "../../core/runs.ts";
import type { SignalBody, SignalKind } from "../../core/signals.ts";
import { Telemetry } from "../../core/telemetry.ts";
import { token } from "../../core/token.ts";
import { Committer } from "../../journal/committer.ts";
import { Followers } from "../../journal/follow.ts";
import { type Work, Worker } from "../../journal/worker.ts";
import { Revisions } from "../build/revisions.ts";
import { Config } from "../config/load.ts";
import type { LimitSettings } from "../config/server.ts";
import { Figures } from "../inspect/figures.ts";
import { Admission } from "./admission.ts";
import { BackpressureGate, PacedStream } from "./backpressure.ts";
import { Callers } from "./callers.ts";
import { checkSignal } from "./check-signal.ts";
import { embed } from "./embed.ts";
import { eventPage } from "./event-page.ts";
import { Feed } from "./feed.ts";
import { checkFork, forkedRequest, forkRecording, forkSource, mustBeNew, shareContent } from "./fork.ts";
import { askedAbout, openQuestions } from "./questions.ts";
import { checkBounds, checkSignalBounds, isName } from "./request-bounds.ts";
import { Sessions } from "./sessions.ts";

/** Name of this process's worker in the journal. */
export const WorkerName = token<string>("WorkerName");

/** Which runs of the journal this process takes up: of its agents, of the same revisions of them, or none but its own. */
export type TakeUp = "any" | "same" | "none";
export const TakeUp = token<TakeUp>("TakeUp");

interface RunsParts {
  /** Already instrumented. */
  readonly journal: Journal;
  readonly revisions: Revisions;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly log: Log;
  /** Maximum characters of a run's metadata. */
  readonly metadata: number;
}

interface Owner {
  readonly tenant: string;
  readonly caller: RunRequest["caller"] | undefined;
}

/** Past the hour for which journals keep blobs without a run, ms. */
const sweepAfter = 65 * 60_000;

/** Runs on top of journal, worker and loop. Not instrumented; the container's `Runs` is. */
@injectable()
export class HostRuns implements Runs {
  /** What happened since somebody took them. */
  readonly figures: Figures;
  readonly #parts: RunsParts;
  readonly #committer: Committer;
  readonly #followers: Followers;
  readonly #worker: Worker;
  readonly #content: ContentStore;
  readonly #sessions: Sessions;
  readonly #feed: Feed;
  readonly #paces = new Map<string, BackpressureGate>();
  /** Owners of the runs executing here. */
  readonly #owners = new Map<string, Owner>();
  readonly #takeUp: TakeUp;
  /** Unfinished runs started here; kept only by a process that takes up no others. */
  readonly #started = new Set<string>();
  readonly #interrupt = new AbortController();
  #draining = false;
  #stopSweep: (() => void) | undefined;

  constructor(
    @inject(Config) { limits }: Config,
    @inject(Journal) journal: Journal,
    @inject(Revisions) revisions: Revisions,
    @inject(ContentStore) content: ContentStore,
    @inject(Sessions) sessions: Sessions,
    @inject(Admission) admission: Admission,
    @inject(Telemetry) telemetry: Telemetry,
    @inject(Clock) clock: Clock,
    @inject(Log) log: Log,
    @inject(WorkerName) name: string,
    @inject(TakeUp) takeUp: TakeUp,
  ) {
    this.#takeUp = takeUp;
    this.#parts = { journal, revisions, telemetry, clock, log, metadata: limits.metadata };
    this.#content = content;
    this.#sessions = sessions;
    this.#followers = new Followers({ journal, clock });
    this.#feed = new Feed({ journal, followers: this.#followers, clock, log });
    this.#committer = new Committer({
      journal,
      clock,
      log,
      listener: this.#followers,
      ended: (digest) => this.figures.ended(digest),
    });
    this.figures = new Figures(this.#committer.commits);
    this.#worker = new Worker({
      name,
      journal,
      committer: this.#committer,
      clock,
      log,
      concurrency: limits.activeRuns,
      watch: admission,
      claims: () => this.#claims(),
      prices: () => revisions.current.config.prices,
      execute: (work) => this.#execute(work),
    });
  }

  /** Starts claiming work. */
  open(): Promise<void> {
    return this.#worker.start();
  }

  get active(): number {
    return this.#worker.active;
  }

  /** Number of readers. */
  get followers(): number {
    return this.#followers.size;
  }

  /** The runs of the journal that this process may execute. */
  #claims(): ClaimFilter {
    const agents = [...this.#parts.revisions.current.agents.values()];
    if (this.#takeUp === "none") return { agents: [], runs: [...this.#started] };
    const names = { agents: agents.map(({ name }) => name) };
    return this.#takeUp === "any" ? names : { ...names, revisions: agents.map(({ revision }) => revision) };
  }

  async start(request: RunRequest, options: StartOptions = {}): Promise<{ run: string; existing: boolean }> {
    const op = "run.start";
    if (this.#draining)
      throw new VenturiError(op, "shutting_down", "the service is shutting down and accepts no new runs");
    const { agent, input, context } = this.#check(request, options.context);
    if (options.compat === "strict") checkFields(agent, request);
    const run = newRunId(this.#parts.clock.now());
    const stored = await this.#keepContent(run, input);
    const { tenant, caller } = await this.#owner(request, options);
    // A sub-run needs no free slot: its waiting parent might hold the last one for ever.
    const here = this.#worker.room > 0 || this.#owners.has(request.parent?.run ?? "");
    const enqueued = await this.#parts.journal.enqueue({
      run,
      tenant,
      session: request.session,
      request: {
        ...request,
        agent: agent.name,
        input: stored,
        revision: agent.revision,
        ...(context === undefined ? {} : { context }),
        ...(caller === undefined ? {} : { caller }),
      },
      whenBusy: agent.whenBusy,
      ...(options.key === undefined ? {} : { key: options.key }),
      ...(here ? { claimFor: this.#worker.name } : {}),
    });
    if (this.#takeUp === "none" && !enqueued.existing) this.#started.add(run);
    if (options.paced && !enqueued.existing) this.#paces.set(run, new BackpressureGate());
    if (enqueued.claim) this.#worker.offer(enqueued.claim);
    return { run: enqueued.run, existing: enqueued.existing };
  }

  async fork(run: string, request: z.input<typeof ForkRequest>, options: StartOptions = {}): Promise<{ run: string }> {
    const op = "run.fork";
    if (this.#draining)
      throw new VenturiError(op, "shutting_down", "the service is shutting down and accepts no new runs");
    const asked = checkFork(request);
    const { journal, clock } = this.#parts;
    const source = await forkSource(journal, await this.get(run), asked);
    const { tenant } = source.row;
    if (asked.session !== undefined) await mustBeNew(journal, tenant, asked.session);
    const wanted = forkedRequest(source, asked);
    const { input } = this.#check(wanted);
    const forked = newRunId(clock.now());
    const target = { run: forked, caller: options.caller, now: clock.now() };
    const parts = { asked, request: { ...wanted, input: await this.#keepContent(forked, input) }, target };
    const recording = await forkRecording(journal, source, parts);
    await shareContent(journal, recording, source.runs);
    await journal.restore(recording);
    return { run: forked };
  }

  follow(run: string, options: FollowOptions = {}): AsyncIterable<readonly RunEvent[]> {
    const { channel: _, passive, ...asked } = options;
    const batches = this.#followers.follow(run, asked);
    const pace = passive ? undefined : this.#paces.get(run);
    // Removed with its reader: a run another replica executes never ends here.
    return pace?.take() ? new PacedStream(batches, pace, () => this.#paces.delete(run)) : batches;
  }

  async events(run: string, query: EventQuery = {}): Promise<EventPage> {
    return eventPage(this.#parts.journal, await this.get(run), query);
  }

  feed(query: FeedQuery = {}): AsyncIterable<readonly FeedItem[]> {
    return this.#feed.watch(query);
  }

  async get(run: string): Promise<RunRow> {
    const row = isName(run) ? await this.#parts.journal.get(run) : undefined;
    if (row === undefined) throw noRun("run.get", run);
    return row;
  }

  list(query: ListQuery): Promise<{ runs: RunRow[]; cursor?: string }> {
    // A session is listed to go on with it, so its last run must not be missing.
    return this.#parts.journal.list(query.session === undefined ? { ...query, mayLag: true } : query);
  }

  async cancel(
    run: string,
    reason = "the run was cancelled",
    details?: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const row = await this.get(run);
    if (row.state === "done") return;
    await this.signal(run, "cancel", { reason, ...(details === undefined ? {} : { details }) });
    await this.#callersOf(row).ended(reason);
    for await (const _batch of this.#followers.follow(run, { after: row.head })); // ends after the terminal event
  }

  async signal<Kind extends SignalKind>(
    run: string,
    kind: Kind,
    body: SignalBody<Kind>,
    id?: string,
  ): Promise<boolean> {
    const { journal } = this.#parts;
    const checked = checkSignal(kind, body);
    checkSignalBounds(checked);
    if (!isName(run)) throw noRun("run.signal", run);
    const name = id ?? randomBytes(9).toString("base64url");
    if (!("call" in checked)) return journal.signal(run, name, kind, checked);
    const row = await this.get(run);
    const { count, answered, asked } = await askedAbout(journal, run, checked.call);
    if (answered || row.state === "done") return false;
    if (checked.arguments !== undefined && asked !== undefined) {
      const { origin } = asked;
      // Asked by a called run, whose tool it is: answered there, and its callers are told.
      if (origin !== undefined) return this.signal(origin.run, "approve", { ...checked, call: origin.call }, id);
      if (!checked.approved) {
        throw new VenturiError("run.signal", "invalid_input", "arguments: a refused call is not made; leave them out");
      }
      checkChanged(this.#parts.revisions.current.agents.get(row.agent), asked.name, checked.arguments);
    }
    const taken = await journal.signal(run, `${name}:${count}`, kind, checked);
    if (taken) {
      await this.#callersOf(row).answered(checked);
      await this.#auditAnswer(row, checked, asked);
    }
    return taken;
  }

  /** The answer is already stored, so a failure to audit it is only logged. */
  async #auditAnswer(row: RunRow, answer: SignalBody<"approve">, asked: EventOf<"approval.requested"> | undefined) {
    const { journal, log } = this.#parts;
    const hash = hashOf(asked?.arguments ?? {});
    const entry = {
      action: answer.approved ? "approval.given" : "approval.denied",
      by: answer.by ?? "local",
      tenant: row.tenant,
      run: row.run,
      details: {
        call: answer.call,
        tool: asked?.name ?? "",
        arguments: `sha256:${hash}`,
        ...(answer.arguments === undefined ? {} : { changed: `sha256:${hashOf(answer.arguments)}` }),
      },
    };
    const failed = (thrown: unknown) => log.error("not audited", { ...entry, error: messageOf(thrown) });
    await journal.audit(entry).catch(failed);
  }

  #callersOf(row: RunRow): Callers {
    return new Callers(this.#parts.journal, row);
  }

  async pending(run: string): Promise<readonly PendingApproval[]> {
    return openQuestions(this.#parts.journal, await this.get(run));
  }

  async countInput(request: RunRequest, options: CountOptions = {}): Promise<TokenCount> {
    const { signal = new AbortController().signal, tenant = defaultTenant } = options;
    const { session } = request;
    const agent = forCall(this.#agent(request.agent), request);
    checkCall(agent, request);
    const asked = { ...request, input: checkInput(agent, request.input) };
    const lease = this.#parts.revisions.acquire();
    try {
      const before = session === undefined ? [] : await this.#sessions.before({ tenant, session, run: "" });
      return await countInput(agent, asked, { signal, session: before });
    } finally {
      lease.release();
    }
  }

  async wires(run: string): Promise<readonly KeptWire[]> {
    await this.get(run);
    return (await this.#parts.journal.wire?.(run)) ?? [];
  }

  async content(run: string, hash: string): Promise<Uint8Array> {
    const { blobs } = this.#parts.journal;
    const own = (await blobs?.of(run)) ?? [];
    const bytes = own.includes(hash) ? await blobs?.get(hash) : undefined;
    if (bytes !== undefined) return bytes;
    throw new VenturiError("run.content", "not_found", `the run "${run}" has no content with the hash ${hash}`);
  }

  async embed(request: EmbedInput, signal?: AbortSignal): Promise<Embedded> {
    const lease = this.#parts.revisions.acquire();
    try {
      return await embed(this.#agent(request.agent), request, signal ?? new AbortController().signal);
    } finally {
      lease.release();
    }
  }

  async remove(run: string): Promise<void> {
    await this.cancel(run, "the run is removed");
    const { session, tenant } = await this.get(run);
    await this.#parts.journal.prune({ runs: [run] });
    if (session !== undefined) this.#sessions.forget(tenant, session);
    this.#parts.telemetry.forget(run);
    this.#sweepLater();
  }

  /** Blobs that no run uses any more are kept for an hour, and only a prune removes them. */
  #sweepLater(): void {
    const { clock, journal, log } = this.#parts;
    this.#stopSweep ??= clock.after(sweepAfter, () => {
      this.#stopSweep = undefined;
      journal.prune({}).catch((thrown: unknown) => log.warn("journal.prune", { error: messageOf(thrown) }));
    });
  }

  agents(): readonly AgentInfo[] {
    return [...this.#parts.revisions.current.agents.values()].map(infoOf);
  }

  async drain(ms: number, afterDrain: LimitSettings["afterDrain"]): Promise<void> {
    this.#draining = true;
    this.#worker.rest();
    const { clock } = this.#parts;
    const end = clock.monotonic() + ms;
    await this.#idle(end);
    if (this.#worker.active === 0) return;
    if (afterDrain === "release") {
      await this.#worker.stop();
      this.#followers.close(); // their streams go on elsewhere
      return;
    }
    this.#interrupt.abort(
      new VenturiError("run.drain", "shutting_down", "the service stopped before the run was done"),
    );
    await this.#idle(clock.monotonic() + 5_000);
  }

  async close(): Promise<void> {
    this.#draining = true;
    this.#stopSweep?.();
    await this.#worker.stop();
    this.#followers.close();
    this.#committer.close();
  }

  /** Resolves when nothing is running, or at the deadline. */
  async #idle(until: number): Promise<void> {
    const { clock } = this.#parts;
    while (this.#worker.active > 0 && clock.monotonic() < until) {
      await new Promise<void>((resolve) => clock.after(20, resolve));
    }
  }

  async #execute(work: Work): Promise<void> {
    const { claim, history } = work;
    const { telemetry, clock } = this.#parts;
    const { run } = claim.ownership;
    const startedAt = clock.monotonic();
    const lease = this.#parts.revisions.acquire();
    const pace = this.#paces.get(run);
    if (pace !== undefined) pace.parked = false;
    const leaveFeed = this.#feed.began(claim, work.digest);
    try {
      const measured = telemetry.runLog(work.log, claim, history);
      const log = pace === undefined ? measured : pacedLog(measured, pace);
      this.#owners.set(run, { tenant: claim.tenant, caller: claim.request.caller });
      const pipeline = lease.revision.pipelines.open({
        claim,
        log,
        history,
        startedAt,
        signals: work.signals,
        release: work.signal,
        interrupt: this.#interrupt.signal,
        ...(pace === undefined ? {} : { gate: () => pace.gate() }),
      });
      await pipeline.run();
      if (this.#started.has(run) && (await this.get(run)).state === "done") this.#started.delete(run);
    } finally {
      if (!pace?.parked) this.#paces.delete(run);
      this.#owners.delete(run);
      leaveFeed();
      lease.release();
    }
  }

  async #keepContent(run: string, input: RunInput): Promise<RunInput> {
    if (input.messages === undefined) return input;
    return { ...input, messages: [...(await this.#content.keep(run, input.messages))] };
  }

  /** A sub-run inherits its parent's tenant and caller. */
  async #owner({ parent }: RunRequest, options: StartOptions): Promise<Owner> {
    if (parent === undefined) return { tenant: options.tenant ?? defaultTenant, caller: options.caller };
    const known = this.#owners.get(parent.run);
    if (known !== undefined) return known;
    const { tenant, request } = await this.get(parent.run);
    return { tenant, caller: request.caller };
  }

  /** What this configuration refuses is refused before anything is stored. */
  /** `offered` is a caller's context, for an agent that takes one. */
  #check(request: RunRequest, offered?: unknown): { agent: AgentDefinition; input: RunInput; context: unknown } {
    checkBounds(request, { metadata: this.#parts.metadata });
    const agent = forCall(this.#agent(request.agent), request);
    checkCall(agent, request);
    const input = request.remember ? request.input : checkInput(agent, request.input);
    const context = request.context ?? (agent.context === undefined ? undefined : offered);
    checkContext(agent, context);
    checkTargets(agent, request);
    return { agent, input, context };
  }

  #agent(name: string): AgentDefinition {
    const { agents } = this.#parts.revisions.current;
    const agent = agents.get(name) ?? [...agents.values()].find(({ aliases }) => aliases.includes(name));
    if (agent !== undefined) return agent;
    const known = [...agents.keys()].join(", ") || "none";
    throw new VenturiError("run.start", "not_found", `there is no agent "${name}"; the agents are: ${known}`);
  }
}

/** Arguments that a person changed have to fit the tool's schema, as far as the tool is known here. */
function checkChanged(agent: AgentDefinition | undefined, name: string, changed: Record<string, unknown>): void {
  const tools = new ToolTable(agent?.tools() ?? []);
  if (tools.get(name) === undefined) return;
  const checked = tools.check(name, { ...changed });
  if (!checked.ok) throw new VenturiError("run.signal", "invalid_input", checked.error.message);
}

const hashOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

const noRun = (op: string, run: string): VenturiError =>
  new VenturiError(op, "not_found", `there is no run "${run.slice(0, 256)}"`);

function checkTargets(agent: AgentDefinition, request: RunRequest): void {
  const needs = needsOf(agent, request);
  for (const target of agent.model.targets) checkCapabilities(target.port, target.name, needs);
}

/** The same log, counting what passes. */
function pacedLog(log: RunLog, pace: BackpressureGate): RunLog {
  const counted = (event: RunEvent) => {
    pace.wrote(event);
    return event;
  };
  return {
    ownership: log.ownership,
    signal: log.signal,
    get head() {
      return log.head;
    },
    get pressure() {
      return log.pressure;
    },
    write: (body) => counted(log.write(body)),
    step: async (body) => counted(await log.step(body)),
    flush: () => log.flush(),
    park: async (seen, wakeAfter) => {
      await log.park(seen, wakeAfter);
      pace.parked = true;
    },
  };
}

function inputsOf({ inputs, inputsSchema }: AgentDefinition): AgentInfo["inputs"] {
  if (inputsSchema !== undefined) return jsonSchemaOf(inputsSchema);
  return Object.keys(inputs).length === 0 ? undefined : inputSchema(inputs);
}

const infoOf = (agent: AgentDefinition): AgentInfo => ({
  name: agent.name,
  aliases: agent.aliases,
  description: agent.description,
  model: agent.model.name,
  models: [...agent.overrides.models.keys()],
  tools: agent.tools().map(specOf),
  inputs: inputsOf(agent),
  revision: agent.revision,
});

/** Sortable by time, unguessable. Node generates UUIDs in bulk but random bytes one by one; these 20 digits are all random. */
function newRunId(now: number): string {
  const uuid = randomUUID();
  return `run_${now.toString(36).padStart(9, "0")}${uuid.slice(0, 8)}${uuid.slice(24)}`;
}
