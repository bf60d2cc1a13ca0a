import type { AuditEntry } from "../../core/journal/audit.ts";
import type { UsageQuery, UsageRow } from "../../core/journal/money.ts";
import type { Charge } from "../../core/ports/held.ts";
import type {
  AgentInfo,
  CountOptions,
  Doing,
  Embedded,
  EmbedInput,
  EventQuery,
  FollowOptions,
  Runs,
  StartOptions,
  TokenCount,
} from "../../core/ports/runs.ts";
import type { FeedQuery } from "../../core/run/feed.ts";
import type { Feedback, GivenFeedback } from "../../core/run/feedback.ts";
import type { RunsQuery } from "../../core/run/list-query.ts";
import type { Prompt } from "../../core/run/prompt.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import type { SignalBody, SignalKind } from "../../core/run/signals.ts";
import type { Grouping } from "../../core/run/totals.ts";
import { turnFor } from "../../core/values/in-slices.ts";
import type { Turns } from "../../core/values/turns.ts";
import type { Admission, Place } from "./admission.ts";
import { CallerAccess, noRun } from "./caller-access.ts";
import { pauseFor } from "./caller-pause.ts";
import { afterCheck, eachIn } from "./checked-items.ts";
import type { KeyHolder } from "./key-holder.ts";
import { fingerprint, mustBeSame, rowOfKey, usedForHidden } from "./same-request.ts";
import { usageWithin } from "./usage-within.ts";

/** Time to read 1 MiB of content and write it to a socket, including garbage collection, ms. */
const pieceTime = 4;

/** What a start is checked against. `charge` counts it against the caller's rate and rejects with `rate_limited`. */
interface Admit {
  readonly admission: Admission;
  charge(): Promise<void>;
  readonly turns: Turns;
  /** Memory held by the request's body. */
  held(): Charge | undefined;
  audit(entry: AuditEntry): Promise<void>;
  /** Called with the error of a refused start. */
  refused?(error: unknown): void;
}

/**
 * Runs restricted to one caller: its tenant's runs of permitted agents. Any other run appears not to exist, so that its existence does not
 * leak. A class, because one is created per request and lives as long as its stream.
 */
export class CallerRuns implements Runs {
  readonly #runs: Runs;
  readonly #caller: KeyHolder;
  readonly #access: CallerAccess;
  readonly #admit: Admit;
  /** Runs already checked: saves a second lookup when a run just started or read is followed. */
  readonly #checked = new Set<string>();

  constructor(runs: Runs, caller: KeyHolder, admit: Admit) {
    this.#runs = runs;
    this.#caller = caller;
    this.#access = new CallerAccess(runs, caller);
    this.#admit = admit;
  }

  async start(request: RunRequest, options: StartOptions = {}): ReturnType<Runs["start"]> {
    const { tenant, context, metadata } = this.#caller;
    this.#access.mayStart(request.agent);
    if (request.debug) this.#access.demand("inspect");
    // Prefixed, so that they cannot collide with the keys of sub-runs, which parent runs choose.
    const key = options.key === undefined ? {} : { key: `caller:${options.key}` };
    const { held = this.#admit.held(), sent: message, ...rest } = options;
    const isCompared = options.key !== undefined && message !== undefined;
    const sent = isCompared ? { sent: fingerprint([this.#access.nameOf(request.agent), message]) } : {};
    return await this.#admitted(
      (waitedMs) =>
        this.#runs.start(withMetadata({ ...request, ...sent }, metadata), {
          ...rest,
          waitedMs,
          ...key,
          held,
          tenant,
          caller: this.#by,
          context,
        }),
      (row) => mustBeSame(row, sent.sent),
    );
  }

  async fork(run: string, request: Parameters<Runs["fork"]>[1]): ReturnType<Runs["fork"]> {
    const { id } = this.#caller;
    this.#access.demand("start");
    if (request.instructions !== undefined) this.#access.demand("inspect");
    if (request.agent !== undefined) this.#access.mayStart(request.agent);
    this.#access.mayAnswer(request.unanswered);
    // The fork goes into the original's tenant, so permission to read is not enough.
    const { tenant } = await this.#access.ownTurn(run);
    if (!this.#access.mayChange(tenant)) throw noRun(run);
    const forked = await this.#inTurn(() =>
      this.#admitted(() => this.#runs.fork(run, request, { tenant, caller: this.#by })),
    );
    const details = { from: run, after: request.after };
    await this.#admit.audit({ action: "run.forked", by: id, tenant, run: forked.run, details });
    return forked;
  }

  follow(run: string, options?: FollowOptions): ReturnType<Runs["follow"]> {
    const events = this.#runs.follow(run, options);
    return this.#checked.delete(run) ? events : afterCheck(() => this.#access.own(run, "see"), events);
  }

  async events(run: string, query?: EventQuery): ReturnType<Runs["events"]> {
    await this.#access.own(run, "see");
    return await this.#inTurn(() => this.#runs.events(run, query));
  }

  feed(query: FeedQuery = {}): ReturnType<Runs["feed"]> {
    const { agents, tenant, tenants } = this.#caller;
    this.#access.maySee(query.agent);
    const within = tenants === "all" ? {} : { tenant };
    return this.#runs.feed({ ...query, ...within, ...(agents === undefined ? {} : { agents }) });
  }

  async get(run: string): Promise<RunRow> {
    const row = await this.#access.own(run, "see");
    this.#checked.add(run);
    return row;
  }

  async list(query: RunsQuery): ReturnType<Runs["list"]> {
    return await this.#runs.list(this.#access.within(query));
  }

  async totals(query: RunsQuery, by?: Grouping): ReturnType<Runs["totals"]> {
    return await this.#runs.totals(this.#access.within(query), by);
  }

  async usage(query: UsageQuery): Promise<UsageRow[]> {
    this.#access.demand("see");
    return await usageWithin(this.#runs, this.#caller, query);
  }

  async cancel(run: string, reason?: string, details?: Readonly<Record<string, unknown>>): Promise<void> {
    const by = this.#caller.id;
    const { state, tenant } = await this.#access.own(run, "steer");
    await this.#runs.cancel(run, reason, { ...details, by });
    if (state !== "done") await this.#admit.audit({ action: "run.cancelled", by, tenant, run, details: { reason } });
  }

  async signal<Kind extends SignalKind>(
    run: string,
    kind: Kind,
    body: SignalBody<Kind>,
    id?: string,
  ): Promise<boolean> {
    const scope = kind === "approve" ? "approve" : "steer";
    this.#access.demand(scope);
    await this.#access.own(run, scope);
    // Always the key's id, whatever the client claims.
    const signed = kind === "cancel" ? body : { ...body, by: this.#caller.id };
    return await this.#runs.signal(run, kind, signed, id);
  }

  async embed(request: EmbedInput, signal?: AbortSignal): Promise<Embedded> {
    this.#access.mayStart(request.agent);
    await this.#admit.charge();
    return await this.#runs.embed({ ...request, caller: this.#by }, signal);
  }

  async remove(run: string): Promise<void> {
    const { tenant } = await this.#access.own(run, "steer");
    await this.#runs.remove(run);
    await this.#admit.audit({ action: "run.removed", by: this.#caller.id, tenant, run });
  }

  async giveFeedback(run: string, given: GivenFeedback): Promise<Feedback> {
    await this.#access.own(run, "steer");
    return await this.#runs.giveFeedback(run, given, { caller: this.#by });
  }

  async feedback(run: string): ReturnType<Runs["feedback"]> {
    await this.#access.own(run, "see");
    return await this.#runs.feedback(run);
  }

  async wires(run: string): ReturnType<Runs["wires"]> {
    this.#access.demand("inspect");
    await this.#access.own(run, "see");
    return await this.#inTurn(() => this.#runs.wires(run));
  }

  async content(run: string, hash: string): Promise<Uint8Array> {
    await this.#access.own(run, "see");
    return await this.#inTurn(() => this.#runs.content(run, hash));
  }

  async contentPieces(run: string, hash: string): ReturnType<Runs["contentPieces"]> {
    await this.#access.own(run, "see");
    const pieces = await this.#inTurn(() => this.#runs.contentPieces(run, hash));
    const { tenant } = this.#caller;
    return eachIn(pieces, async (next) => {
      await turnFor(pieceTime, tenant); // The async context is that of whoever drained the socket.
      return await this.#inTurn(next);
    });
  }

  async prompt(run: string, round: number): Promise<Prompt> {
    await this.#access.ownTurn(run);
    if (this.#runs.prompt === undefined) throw noRun(run);
    return await this.#inTurn(async () => (await this.#runs.prompt?.(run, round)) as Prompt); // `prompt` was checked above.
  }

  async pending(run: string): ReturnType<Runs["pending"]> {
    await this.#access.own(run, "see");
    return await this.#inTurn(() => this.#runs.pending(run));
  }

  async doing(run: string): Promise<Doing | undefined> {
    await this.#access.own(run, "see");
    return await this.#runs.doing?.(run);
  }

  now(run: string): number | undefined {
    return this.#runs.now?.(run);
  }

  async countInput(request: RunRequest, options?: CountOptions): Promise<TokenCount> {
    this.#access.mayStart(request.agent);
    await this.#admit.charge();
    return await this.#runs.countInput({ ...request, caller: this.#by }, { ...options, tenant: this.#caller.tenant });
  }

  tokenRate(run: string): ReturnType<NonNullable<Runs["tokenRate"]>> {
    return this.#runs.tokenRate?.(run);
  }

  agents(): readonly AgentInfo[] {
    return this.#runs.agents().filter((agent) => this.#caller.agents?.includes(agent.name) ?? true);
  }

  pauseAgent(agent: string, said: { readonly reason?: string } = {}): Promise<boolean> {
    return pauseFor(this.#pausing, agent, said);
  }

  resumeAgent(agent: string): Promise<boolean> {
    return pauseFor(this.#pausing, agent, undefined);
  }

  get #pausing() {
    return { runs: this.#runs, caller: this.#caller, access: this.#access, audit: this.#admit.audit };
  }

  get #by(): NonNullable<RunRequest["caller"]> {
    const { id, concurrentRuns, agents, overrides = {} } = this.#caller;
    return {
      ...{ id, ...(agents && { agents }) },
      ...(concurrentRuns === undefined ? {} : { concurrentRuns }),
      ...(Object.keys(overrides).length === 0 ? {} : { overrides }),
    };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#admit.turns.take(this.#caller.tenant, work);
  }

  /** Starts within the caller's rate and the service's limits. */
  async #admitted<Started extends { run: string; existing?: boolean }>(
    begin: (waitedMs: number) => Promise<Started>,
    found: (row: RunRow) => void = () => {},
  ): Promise<Started> {
    const place = await this.#reserve();
    try {
      const started = await begin(place.waitedMs);
      if (started.existing) found(await rowOfKey(this.#access.own(started.run, "start", usedForHidden)));
      this.#checked.add(started.run);
      this.#access.started(started.run);
      place.bind(started.run);
      return started;
    } catch (thrown) {
      place.release();
      this.#admit.refused?.(thrown);
      throw thrown;
    }
  }

  async #reserve(): Promise<Place> {
    try {
      await this.#admit.charge();
      return await this.#admit.admission.reserve(this.#caller);
    } catch (thrown) {
      this.#admit.refused?.(thrown);
      throw thrown;
    }
  }
}

const withMetadata = (request: RunRequest, metadata: RunRequest["metadata"]): RunRequest =>
  metadata === undefined ? request : { ...request, metadata: { ...request.metadata, ...metadata } };
