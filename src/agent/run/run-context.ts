import { VenturiError } from "../../core/errors/errors.ts";
import type { Signal } from "../../core/journal/journal.ts";
import type { RunLog } from "../../core/journal/run-log.ts";
import type { Message } from "../../core/model/messages.ts";
import { costOf, type PriceOf } from "../../core/model/prices.ts";
import type { Usage } from "../../core/model/usage.ts";
import type { Chance } from "../../core/ports/chance.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Stalls } from "../../core/ports/stalls.ts";
import type { Question, Verdict } from "../../core/ports/tool.ts";
import type { AgentPause } from "../../core/run/agent-pause.ts";
import { type EventBody, type RunEvent, textOnly } from "../../core/run/events.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { RunTimes } from "../../core/run/run-times.ts";
import { pausedName, stallFrom } from "../../core/run/time-parts.ts";
import { timingOf } from "../../core/run/timing.ts";
import { LazyMap } from "../../core/values/lazy-collections.ts";
import { mayFollow } from "../state/call-order.ts";
import { RunState } from "../state/run-state.ts";
import type { Breakers } from "./breaker.ts";
import type { CallWatch } from "./call-watch.ts";
import { ContentStore } from "./content.ts";
import type { AgentDefinition } from "./definition.ts";
import { HookChain } from "./hook-chain.ts";
import { LiveContext } from "./live-context.ts";
import type { Members } from "./members.ts";
import type { Meter } from "./metering.ts";
import { orAborted } from "./or-aborted.ts";
import { producedIn } from "./output-cap.ts";
import { Waits } from "./waits.ts";

export interface RunParts {
  readonly agent: AgentDefinition;
  /** An agent the run may be handed to. */
  readonly agentNamed?: (name: string) => AgentDefinition | undefined;
  readonly request: RunRequest;
  /** For the log. */
  readonly tenant?: string;
  readonly log: RunLog;
  /** Events written before the current owner claimed the run. */
  readonly history: readonly RunEvent[];
  /** The session's conversation before this run. */
  readonly session: readonly Message[];
  readonly clock: Clock;
  /** The system's when absent. */
  readonly chance?: Chance;
  readonly logger: Log;
  readonly breakers: Breakers;
  /** Shared by all runs; chains that choose need it. */
  readonly members?: Members;
  /** The model that answered the session's last run. */
  readonly lastModel?: string | undefined;
  /** Blob store for large images and files; without it they stay inline in the events. */
  readonly content?: ContentStore;
  /** A run that only waits for approval is parked after this many ms; never when absent. */
  readonly parkAfter?: number;
  /** How long the run waited for its turn before this owner claimed it, and for which run. */
  readonly queued?: { readonly ms: number; readonly name: string };
  /** How much of that its agent was paused: from so many ms ago, for so many ms. */
  readonly queuedPaused?: { readonly ago: number; readonly ms: number };
  /** Why the runs of the agent wait, if they do. */
  readonly agentPause?: () => AgentPause | undefined;
  /** The time of the run's events; the clock's when absent. */
  readonly now?: () => number;
  /** Waits that nothing of the events shows; who is told of the run while it goes on reads them too. */
  readonly waits?: Waits;
  readonly stalls?: Stalls;
  /** Of a run that is debugged. */
  readonly watch?: CallWatch;
  /** Budgets that hold for the run. */
  readonly meter?: Meter;
  /** What models cost; nothing is known of any when absent. */
  readonly priceOf?: PriceOf;
  /** Backpressure: returns a promise to await before reading on when the pacing follower has fallen behind. */
  readonly gate?: () => Promise<void> | undefined;
  /** Channel of that follower. */
  readonly reader?: () => string | undefined;
}

/** State shared by the stages of one run: identity, written events, cancellation. */
export class RunContext {
  readonly parts: RunParts;
  /** The agent of the current round. A field and not a getter: every delta reads it. */
  agent: AgentDefinition;
  hooks: HookChain;
  /** What tools and hooks of that agent get as `context`. */
  context: unknown;
  readonly live: LiveContext;
  readonly state: RunState;
  readonly times: RunTimes;
  readonly waits: Waits;
  /** Called when the run begins and ceases to wait for people alone. */
  onAsking: (only: boolean) => void = () => {};
  /** Asks a person on behalf of a hook. */
  ask: (question: Question, round: number) => Promise<Verdict> = async () => ({ approved: false });
  /** Characters produced by its generations. */
  produced: number;
  /** Characters the next answer may have, by the tokens that are left. */
  answerCharacters = Number.POSITIVE_INFINITY;
  /** The economy model is asked, because a budget has run out. */
  saving = false;
  readonly content: ContentStore;
  /** Tokens of running calls, by call; those of finished calls are in the state. */
  readonly spentBy = new LazyMap<string, { readonly usage: Usage; readonly cost?: number }>();
  readonly #controller = new AbortController();
  #fenced = false;
  /** Of event times from monotonic ones, ms. */
  #offset: number;

  constructor(parts: RunParts) {
    this.parts = parts;
    this.agent = parts.agent;
    this.content = parts.content ?? new ContentStore(undefined);
    this.state = RunState.of(parts.history);
    this.produced = producedIn(parts.history);
    this.state.useIds(parts.session);
    this.times = RunTimes.of(parts.history);
    this.waits = parts.waits ?? new Waits(parts.clock, parts.stalls, { tenant: parts.tenant });
    this.#offset = (parts.now?.() ?? parts.clock.now()) - parts.clock.monotonic();
    if (parts.queued !== undefined) {
      const { ms, name } = parts.queued;
      this.waits.past("queue", name, { since: parts.clock.monotonic() - ms, ms });
    }
    if (parts.queuedPaused !== undefined) {
      const { ago, ms } = parts.queuedPaused;
      this.waits.past("paused", pausedName(parts.request.agent), { since: parts.clock.monotonic() - ago, ms });
    }
    this.live = new LiveContext(parts.request.context, { run: this.run, signal: this.signal });
    this.hooks = this.#hooksOf(this.agent);
  }

  /** Makes the agent that the run was last handed to the current one, with its context and hooks. */
  async activate(): Promise<void> {
    const name = this.state.active?.agent ?? this.parts.agent.name;
    if (name !== this.agent.name) this.agent = this.agentNamed(name);
    this.context = await this.live.of(this.agent);
    this.hooks = this.#hooksOf(this.agent);
  }

  /** An agent of the run, under the limits of the one it was started with. */
  agentNamed(name: string): AgentDefinition {
    const { agent, agentNamed } = this.parts;
    const found = name === agent.name ? agent : agentNamed?.(name);
    if (found !== undefined) return { ...found, limits: agent.limits };
    const message = `the run was handed to the agent "${name}", which this program does not have`;
    throw new VenturiError("agent.run", "not_found", message);
  }

  #hooksOf(agent: AgentDefinition): HookChain {
    const { clock, stalls, request, tenant } = this.parts;
    return new HookChain(
      agent.hooks,
      {
        clock,
        stalls,
        tenant,
        waits: this.waits,
        fail: (error) => this.abort(error),
        emit: (event) => void (this.#fenced || this.emit(event)),
        ask: (question, round) => this.ask(question, round),
      },
      {
        run: this.run,
        agent: agent.name,
        context: this.context,
        signal: this.signal,
        depth: request.parent?.depth ?? 0,
        ...(request.session === undefined ? {} : { session: request.session }),
      },
    );
  }

  /** As its next event would have it, whatever happened to the wall clock. */
  get now(): number {
    return Math.round(this.parts.clock.monotonic() + this.#offset);
  }

  get run(): string {
    return this.parts.log.ownership.run;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops everything; the first reason wins. */
  abort(reason: VenturiError): void {
    if (!this.signal.aborted) this.#controller.abort(reason);
  }

  /** Another worker owns the run: every later write is refused. */
  fence(): void {
    this.#fenced = true;
  }

  get fenced(): boolean {
    return this.#fenced;
  }

  /** Writes and applies the event; committed with the next group. */
  emit(body: EventBody): RunEvent {
    if (this.#fenced) throw this.signal.reason;
    // Of the events of calls; text, which is most of them, is none.
    if (body.type !== "text.delta") {
      mayFollow(this.state, body);
      if (!textOnly(body.type)) this.waits.putOn(body, this.#offset);
      if (body.type === "run.finished" || body.type === "run.failed") this.#time(body);
    }
    const event = this.parts.log.write(body);
    this.state.apply(event);
    const { times } = this;
    if (event.type === "text.delta" && times.streaming && event.at - times.at < stallFrom) {
      times.deltas += 1;
      if (event.at > times.at) times.at = event.at;
    } else {
      times.take(event);
      this.#offset = event.at - this.parts.clock.monotonic();
    }
    return event;
  }

  /** As whoever folds the run's events finds it: with what the last one waited for, until the moment that the event has as its own. */
  #time(last: Extract<EventBody, { type: "run.finished" | "run.failed" }> & { at?: number }): void {
    const at = Math.max(this.times.at, this.now);
    const times = this.times.copy();
    times.take({ ...last, at });
    last.timing = timingOf(times);
    last.at = at;
  }

  /** Writes and applies the event, and waits until it is durable. */
  async step(body: EventBody): Promise<RunEvent> {
    const event = this.emit(body);
    await this.waits.during("journal", "", this.parts.log.flush());
    return event;
  }

  /** What a generation cost, as its event tells it. */
  costOf(model: string, usage: Usage | undefined): { cost?: number } {
    const cost = usage === undefined ? undefined : costOf(usage, this.parts.priceOf?.(model));
    return cost === undefined ? {} : { cost };
  }

  /** Awaits the work, but no longer than the run lasts. */
  orAborted<T>(work: Promise<T>): Promise<T> {
    return orAborted(work, this.signal);
  }

  throwIfAborted(): void {
    if (this.signal.aborted) throw this.signal.reason;
  }
}

/** The error for a `cancel` signal. */
export const cancelled = ({ reason, details }: Signal["body"]): VenturiError =>
  new VenturiError("agent.run", "stream_interrupted", String(reason ?? "the run was cancelled"), {
    ...(typeof details === "object" && details !== null ? { details: { ...details } } : {}),
  });
