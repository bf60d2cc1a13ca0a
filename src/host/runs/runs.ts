import type { UsageQuery, UsageRow } from "../../core/journal/money.ts";
import { Chance } from "../../core/ports/chance.ts";
import { WriteWatch } from "../../journal/write-watch.ts";
import "reflect-metadata";
import { inject, injectable } from "tsyringe";
import type { z } from "zod";
import { ContentStore } from "../../agent/run/content.ts";
import { Journal } from "../../core/journal/journal.ts";
import { Clock } from "../../core/ports/clock.ts";
import { Memory } from "../../core/ports/held.ts";
import { Log } from "../../core/ports/log.ts";
import type { RateState } from "../../core/ports/rate.ts";
import type {
  AgentInfo,
  CountOptions,
  Doing,
  Embedded,
  EmbedInput,
  EventPage,
  EventQuery,
  FollowOptions,
  Runs,
  StartOptions,
  TokenCount,
} from "../../core/ports/runs.ts";
import { Telemetry } from "../../core/ports/telemetry.ts";
import type { RunEvent } from "../../core/run/events.ts";
import type { FeedItem, FeedQuery } from "../../core/run/feed.ts";
import type { Feedback, GivenFeedback } from "../../core/run/feedback.ts";
import type { ForkRequest } from "../../core/run/fork.ts";
import type { KeptWire } from "../../core/run/kept-wire.ts";
import type { RunsQuery } from "../../core/run/list-query.ts";
import type { Prompt } from "../../core/run/prompt.ts";
import type { PendingQuestion } from "../../core/run/questions.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import type { SignalBody, SignalKind } from "../../core/run/signals.ts";
import type { Counted, Grouping } from "../../core/run/totals.ts";
import { Followers } from "../../journal/followers.ts";
import { notesOf, pruneRuns } from "../../journal/notes.ts";
import { giveFeedback, listRuns } from "../../journal/run-feedback.ts";
import { Admission } from "../access/admission.ts";
import { Config } from "../config/load.ts";
import type { LimitSettings } from "../config/server.ts";
import type { Figures } from "../inspect/figures.ts";
import { Revisions } from "../revisions/revisions.ts";
import { AgentFrames } from "./agent-frames.ts";
import { openQuestions } from "./approval-questions.ts";
import { PacedStream } from "./backpressure.ts";
import { BeginRuns } from "./begin-runs.ts";
import { Callers } from "./callers.ts";
import { piecesOf } from "./content-pieces.ts";
import { countTokens } from "./count.ts";
import { embedWith } from "./embed.ts";
import { eventPage } from "./event-page.ts";
import { Executor, TakeUp, WorkerName } from "./executor.ts";
import { existingRun } from "./existing-run.ts";
import { Feed } from "./feed.ts";
import { promptOf } from "./prompts.ts";
import { idleFor } from "./queue-time.ts";
import { Sessions } from "./sessions.ts";
import { SignalSender } from "./signal-sender.ts";
import { Sweep } from "./sweep.ts";
import { totalsOf, usageOf } from "./totals.ts";

interface RunsDeps {
  /** Already instrumented. */
  readonly journal: Journal;
  readonly revisions: Revisions;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly log: Log;
}

/** Implements `Runs` on journal and executor. Not instrumented; the container's `Runs` is. */
@injectable()
export class HostRuns implements Runs {
  readonly #deps: RunsDeps;
  readonly #executor: Executor;
  readonly #followers: Followers;
  readonly #content: ContentStore;
  readonly #sessions: Sessions;
  readonly #feed: Feed;
  readonly #signals: SignalSender;
  readonly #frames: AgentFrames;
  readonly #begin: BeginRuns;
  readonly sweep: Sweep;

  constructor(
    @inject(Config) config: Config,
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
    @inject(Memory) memory: Memory,
    @inject(WriteWatch) writes: WriteWatch,
    @inject(Chance) chance: Chance,
  ) {
    const { limits } = config;
    this.#deps = { journal, revisions, telemetry, clock, log };
    this.#content = content;
    this.#sessions = sessions;
    this.#frames = new AgentFrames(journal, log);
    const followers = new Followers({ journal, clock });
    const feed = new Feed({ journal, followers, clock, log });
    const deps = { name, journal, revisions, admission, followers, feed, telemetry, clock, log, takeUp };
    this.#followers = followers;
    this.#feed = feed;
    this.#executor = new Executor({ ...deps, memory, writes, concurrency: limits.activeRuns, body: limits.body });
    const begin = { journal, revisions, clock, chance, config, content, memory };
    this.#begin = new BeginRuns({ ...begin, executor: this.#executor, frames: this.#frames });
    this.sweep = new Sweep({ journal, clock, log });
    this.#signals = new SignalSender({
      journal,
      log,
      chance,
      agent: (agent) => revisions.current.agents.get(agent),
      guarded: () => Object.keys(revisions.current.config.guards).length > 0,
    });
  }

  open(): Promise<void> {
    return this.#executor.open();
  }

  get active(): number {
    return this.#executor.active;
  }

  watch(watcher: Executor["watcher"]): void {
    this.#executor.watcher = watcher;
  }

  get followers(): number {
    return this.#followers.size;
  }

  get figures(): Figures {
    return this.#executor.figures;
  }

  async start(request: RunRequest, options?: StartOptions): ReturnType<Runs["start"]> {
    return await this.#begin.start(request, options);
  }

  async fork(run: string, request: z.input<typeof ForkRequest>, options?: StartOptions): Promise<{ run: string }> {
    return await this.#begin.fork(run, request, options);
  }

  async usage(query: UsageQuery): Promise<UsageRow[]> {
    return await usageOf(this.#deps.journal, query);
  }

  async totals(query: RunsQuery, by?: Grouping): Promise<Counted> {
    return await totalsOf(this.#deps.journal, query, by);
  }

  follow(run: string, options: FollowOptions = {}): AsyncIterable<readonly RunEvent[]> {
    const { channel, passive, ...asked } = options;
    const batches = this.#followers.follow(run, asked);
    const paced = passive ? undefined : this.#executor.gateOf(run, channel);
    // Removed with its reader: a run executed by another replica never ends here.
    return paced === undefined ? batches : new PacedStream(batches, paced.gate, paced.remove);
  }

  async events(run: string, query: EventQuery = {}): Promise<EventPage> {
    return eventPage(this.#deps.journal, await this.get(run), query);
  }

  feed(query: FeedQuery = {}): AsyncIterable<readonly FeedItem[]> {
    return this.#feed.watch(query);
  }

  async get(run: string): Promise<RunRow> {
    return this.#marked(await existingRun(this.#deps.journal, run));
  }

  async list(query: RunsQuery): Promise<{ runs: RunRow[]; cursor?: string }> {
    // Only a list that is shown may lag: a decision, like the next turn of a session, would miss the run that has just begun.
    const mayLag = query.mayLag === true && query.session === undefined;
    const page = await listRuns(this.#deps.journal, { ...query, mayLag });
    return { ...page, runs: page.runs.map((row) => this.#marked(row)) };
  }

  #marked(row: RunRow): RunRow {
    const isIdle = row.state === "ready" || row.state === "waiting";
    return isIdle && !this.#deps.revisions.current.agents.has(row.agent) ? { ...row, stranded: true } : row;
  }

  async cancel(
    run: string,
    reason = "the run was cancelled",
    details?: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const row = await this.get(run);
    if (row.state === "done") return;
    await this.signal(run, "cancel", { reason, ...(details === undefined ? {} : { details }) });
    await new Callers(this.#deps.journal, row).ended(reason);
    await this.#followers.ended(run, row.head);
  }

  signal<Kind extends SignalKind>(run: string, kind: Kind, body: SignalBody<Kind>, id?: string): Promise<boolean> {
    return this.#signals.send(run, { kind, body, id });
  }

  async pending(run: string): Promise<readonly PendingQuestion[]> {
    return openQuestions(this.#deps.journal, await this.get(run));
  }

  async countInput(request: RunRequest, options: CountOptions = {}): Promise<TokenCount> {
    return await countTokens({ revisions: this.#deps.revisions, sessions: this.#sessions }, request, options);
  }

  async doing(run: string): Promise<Doing | undefined> {
    const idle = { journal: this.#deps.journal, now: this.now(run), paused: this.#executor.paused };
    return this.#executor.doing(run) ?? (await idleFor(await this.get(run), idle));
  }

  now(run: string): number {
    return this.#executor.now(run);
  }

  async giveFeedback(run: string, given: GivenFeedback, options: StartOptions = {}): Promise<Feedback> {
    const { journal, clock } = this.#deps;
    const source = { now: Math.floor(clock.now()), key: options.caller?.id };
    return await giveFeedback(journal, await this.get(run), { given, source });
  }

  async feedback(run: string): Promise<readonly Feedback[]> {
    return (await notesOf(this.#deps.journal, await this.get(run))).feedback;
  }

  async prompt(run: string, round: number): Promise<Prompt> {
    const { journal, clock, log, revisions } = this.#deps;
    const agentOf = (name: string) => revisions.current.agents.get(name);
    return await promptOf(await this.get(run), round, { journal, clock, log, frames: this.#frames, agentOf });
  }

  async wires(run: string): Promise<readonly KeptWire[]> {
    await this.get(run);
    return (await this.#deps.journal.wire?.(run)) ?? [];
  }

  async content(run: string, hash: string): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for await (const piece of await this.contentPieces(run, hash)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  contentPieces(run: string, hash: string): Promise<AsyncIterable<Uint8Array>> {
    return piecesOf(this.#deps.journal, this.#content, { run, hash });
  }

  async embed(request: EmbedInput, signal?: AbortSignal): Promise<Embedded> {
    return await embedWith(this.#deps.revisions, request, signal);
  }

  async remove(run: string): Promise<void> {
    await this.cancel(run, "the run is removed");
    const { session, tenant } = await this.get(run);
    await pruneRuns(this.#deps.journal, { runs: [run] }, this.#deps.clock);
    if (session !== undefined) this.#sessions.forget(tenant, session);
    this.#deps.telemetry.forget(run);
    this.sweep.later();
  }

  tokenRate(run: string): (() => Promise<RateState | undefined>) | undefined {
    const { journal, clock, revisions } = this.#deps;
    const { budgets } = revisions.current;
    if (!budgets.limitTokensPerMinute || journal.balances === undefined) return undefined;
    return async () => {
      const { tenant, request } = await this.get(run);
      return await budgets.tokenRate({ run, tenant, request }, { journal, clock });
    };
  }

  agents(): readonly AgentInfo[] {
    return this.#executor.paused.infos();
  }

  readonly pauseAgent: NonNullable<Runs["pauseAgent"]> = (name, said) => this.#executor.paused.pause(name, said);
  readonly resumeAgent: NonNullable<Runs["resumeAgent"]> = (name) => this.#executor.paused.resume(name);

  drain(ms: number, afterDrain: LimitSettings["afterDrain"]): Promise<void> {
    this.#begin.stop();
    return this.#executor.drain(ms, afterDrain);
  }

  async close(): Promise<void> {
    this.#begin.stop();
    await Promise.all([this.sweep.stop(), this.#executor.close()]);
  }
}
