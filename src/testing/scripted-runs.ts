import { randomUUID } from "node:crypto";
import { VenturiError, wrap } from "../core/errors/errors.ts";
import type { Signal } from "../core/journal/journal.ts";
import type {
  AgentInfo,
  Embedded,
  EmbedInput,
  EventPage,
  EventQuery,
  FollowOptions,
  Runs,
  StartOptions,
  TokenCount,
} from "../core/ports/runs.ts";
import { type EventBody, isStep, isTerminal, type RunEvent } from "../core/run/events.ts";
import type { FeedItem, FeedQuery } from "../core/run/feed.ts";
import type { Feedback, GivenFeedback } from "../core/run/feedback.ts";
import type { KeptWire } from "../core/run/kept-wire.ts";
import { isAnswered, isAsked, type PendingQuestion, pendingOf } from "../core/run/questions.ts";
import { defaultTenant, type RunRequest } from "../core/run/run-request.ts";
import type { RunRow } from "../core/run/run-row.ts";
import type { SignalKind } from "../core/run/signals.ts";
import { type Grouping, TotalsFold } from "../core/run/totals.ts";
import { type Entry, emit, received, type Script, type Turn, timing, usage, wake, woken } from "./scripted-run.ts";

/** Runs without a model: each agent is a script. For tests of channels over real sockets. */
export class ScriptedRuns implements Runs {
  readonly #scripts: Readonly<Record<string, Script>>;
  readonly #entries = new Map<string, Entry>();
  readonly #keys = new Map<string, string>();
  readonly #onEdge: { begin?(run: string): void; end?(run: string): void };
  /** Active followers. */
  following = 0;

  constructor(
    scripts: Readonly<Record<string, Script>>,
    onEdge: { begin?(run: string): void; end?(run: string): void } = {},
  ) {
    this.#scripts = scripts;
    this.#onEdge = onEdge;
  }

  async start(request: RunRequest, options: StartOptions = {}): Promise<{ run: string; existing: boolean }> {
    const script = this.#scripts[request.agent];
    if (script === undefined) throw new VenturiError("run.start", "not_found", `there is no agent "${request.agent}"`);
    const tenant = options.tenant ?? defaultTenant;
    const key = options.key === undefined ? undefined : JSON.stringify([tenant, options.key]);
    const known = key === undefined ? undefined : this.#keys.get(key);
    if (known !== undefined) return { run: known, existing: true };
    const run = randomUUID();
    if (key !== undefined) this.#keys.set(key, run);
    const now = Date.now();
    const entry: Entry = {
      row: {
        run,
        tenant,
        agent: request.agent,
        session: request.session,
        state: "running",
        outcome: undefined,
        head: 0,
        asking: 0,
        epoch: 1,
        createdAt: now,
        updatedAt: now,
        request,
      },
      events: [],
      abort: new AbortController(),
      signals: [],
      feedback: [],
      wake: new Set(),
      output: "",
    };
    this.#entries.set(run, entry);
    this.#onEdge.begin?.(run);
    void this.#play(entry, script);
    return { run, existing: false };
  }

  fork(run: string): Promise<{ run: string }> {
    return Promise.reject(new VenturiError("run.fork", "invalid_input", `the script of ${run} cannot be forked`));
  }

  async *follow(run: string, options: FollowOptions = {}): AsyncGenerator<readonly RunEvent[]> {
    const entry = this.#entry(run);
    this.following++;
    try {
      for (let after = options.after ?? 0; ; ) {
        if (options.signal?.aborted) return;
        const batch = entry.events.slice(after, after + 256);
        if (batch.length > 0) {
          yield batch;
          after += batch.length;
          const last = batch.at(-1);
          if (last !== undefined && isTerminal(last)) return;
        } else if (entry.row.state === "done") return;
        else await woken(entry, options.signal);
      }
    } finally {
      this.following--;
    }
  }

  async events(run: string, { after = 0, limit = 500, steps = false }: EventQuery = {}): Promise<EventPage> {
    const { events } = this.#entry(run);
    const rest = events.slice(after).filter((event) => !steps || isStep(event));
    const last = rest.at(limit - 1);
    return { events: rest.slice(0, limit), ...(rest.length > limit && last ? { next: last.seq } : {}) };
  }

  /** Scripted runs have no feed items. */
  async *feed({ signal }: FeedQuery = {}): AsyncGenerator<readonly FeedItem[]> {
    yield [{ type: "feed.opened", at: Date.now() }];
    if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
  }

  async get(run: string): Promise<RunRow> {
    return this.#entry(run).row;
  }

  async totals(query: Parameters<Runs["list"]>[0], by?: Grouping): ReturnType<Runs["totals"]> {
    const fold = new TotalsFold(by);
    for (const row of (await this.list({ ...query, limit: this.#entries.size })).runs) fold.add(row);
    return { ...fold.totals(), counted: "all" };
  }

  async usage(): ReturnType<Runs["usage"]> {
    return [];
  }

  async list(query: Parameters<Runs["list"]>[0]): Promise<{ runs: RunRow[]; cursor?: string }> {
    const rows = [...this.#entries.values()].map((entry) => entry.row);
    const fits = (row: RunRow) =>
      (query.tenant === undefined || row.tenant === query.tenant) &&
      (query.agents?.includes(row.agent) ?? true) &&
      (query.agent === undefined || row.agent === query.agent) &&
      (query.session === undefined || row.session === query.session) &&
      (query.state === undefined || row.state === query.state) &&
      (query.outcome === undefined || row.outcome === query.outcome) &&
      (query.waiting === undefined || (row.asking > 0 && row.state !== "done") === query.waiting);
    const runs = rows.filter(fits);
    return { runs: (query.oldestFirst ? runs : runs.reverse()).slice(0, query.limit ?? 50) };
  }

  async cancel(run: string, reason = "cancelled", details?: Readonly<Record<string, unknown>>): Promise<void> {
    const entry = this.#entry(run);
    if (entry.row.state === "done") return;
    entry.abort.abort(new VenturiError("run.cancel", "stream_interrupted", reason, { ...(details && { details }) }));
    while (entry.row.outcome === undefined) await woken(entry, undefined);
  }

  async signal(run: string, kind: SignalKind, body: Signal["body"], id: string = randomUUID()): Promise<boolean> {
    const entry = this.#entry(run);
    if (entry.row.state === "done" || entry.signals.some((signal) => signal.id === id)) return false;
    entry.signals.push({ number: entry.signals.length + 1, id, kind, body });
    wake(entry);
    return true;
  }

  async countInput({ input }: RunRequest): Promise<TokenCount> {
    return { tokens: JSON.stringify(input).length, source: "estimated" };
  }

  async embed({ input }: EmbedInput): Promise<Embedded> {
    return { vectors: input.map((text) => [text.length, 1]), usage: { inputTokens: input.length }, warnings: [] };
  }

  async remove(run: string): Promise<void> {
    await this.cancel(run);
    this.#entries.delete(run);
  }

  async giveFeedback(run: string, given: GivenFeedback): Promise<Feedback> {
    const feedback = { by: "local", ...given, at: Date.now() };
    this.#entry(run).feedback.push(feedback);
    return feedback;
  }

  async feedback(run: string): Promise<readonly Feedback[]> {
    return this.#entry(run).feedback;
  }

  async wires(run: string): Promise<readonly KeptWire[]> {
    this.#entry(run);
    return [];
  }

  contentPieces(run: string): Promise<never> {
    return this.content(run);
  }

  content(run: string): Promise<never> {
    return Promise.reject(new VenturiError("run.content", "not_found", `the run "${run}" has no such content`));
  }

  async pending(run: string): Promise<readonly PendingQuestion[]> {
    const open = new Map<string, PendingQuestion>();
    for (const event of this.#entry(run).events) {
      if (isAnswered(event)) open.delete(event.call);
      if (isAsked(event)) open.set(event.call, pendingOf(event));
    }
    return [...open.values()];
  }

  agents(): readonly AgentInfo[] {
    return Object.keys(this.#scripts).map((name) => ({
      name,
      aliases: [],
      description: `the agent ${name}`,
      model: "test/model",
      models: [],
      tools: [],
      inputs: undefined,
    }));
  }

  #entry(run: string): Entry {
    const entry = this.#entries.get(run);
    if (entry === undefined) throw new VenturiError("run.get", "not_found", `there is no run ${run}`);
    return entry;
  }

  async #play(entry: Entry, script: Script): Promise<void> {
    const { row } = entry;
    const started = { type: "run.started", agent: row.agent, input: row.request.input } as const;
    const { session, traceparent: trace } = row.request;
    emit(entry, [
      { ...started, ...(session === undefined ? {} : { session }), ...(trace === undefined ? {} : { trace }) },
    ]);
    let last: EventBody;
    try {
      const { signal } = entry.abort;
      const turn: Turn = {
        request: row.request,
        run: row.run,
        signal,
        emit: (...events) => emit(entry, events),
        received: (kind) => received(entry, kind),
      };
      const aborted = new Promise<never>((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
      const result = await Promise.race([script(turn), aborted]);
      last = { type: "run.finished", finish: "stop", output: entry.output, usage, rounds: 1, timing, ...result };
    } catch (thrown) {
      const error = wrap("agent.run", thrown).toJSON();
      last = { type: "run.failed", error: { ...error }, output: entry.output, usage, rounds: 1, timing };
    }
    row.state = "done";
    row.outcome = last.type === "run.finished" ? "finished" : "failed";
    emit(entry, [last]);
    this.#onEdge.end?.(row.run);
  }
}
