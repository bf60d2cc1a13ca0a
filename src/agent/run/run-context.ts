import { VenturiError } from "../../core/errors/errors.ts";
import type { Signal } from "../../core/journal/journal.ts";
import type { RunLog } from "../../core/journal/run-log.ts";
import type { Message } from "../../core/model/messages.ts";
import { costOf, type PriceOf } from "../../core/model/prices.ts";
import type { Usage } from "../../core/model/usage.ts";
import type { Chance } from "../../core/ports/chance.ts";
import { type Clock, systemClock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Stalls } from "../../core/ports/stalls.ts";
import type { Question, Verdict } from "../../core/ports/tool.ts";
import type { AgentPause } from "../../core/run/agent-pause.ts";
import { type EventBody, type RunEvent, textOnly } from "../../core/run/events.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { RunTimes } from "../../core/run/run-times.ts";
import { pausedName, stallFrom } from "../../core/run/time-parts.ts";
import { timingOf } from "../../core/run/timing.ts";
import { emptyMap } from "../../core/values/no-entries.ts";
import { mayFollow } from "../state/call-order.ts";
import { RunState } from "../state/run-state.ts";
import type { Breakers } from "./breaker.ts";
import type { CallWatch } from "./call-watch.ts";
import { ContentStore } from "./content.ts";
import type { Countdown } from "./countdown.ts";
import type { AgentDefinition } from "./definition.ts";
import { HookChain } from "./hook-chain.ts";
import { LiveContext } from "./live-context.ts";
import type { Members } from "./members.ts";
import type { Meter } from "./metering.ts";
import { orAborted } from "./or-aborted.ts";
import { producedIn } from "./output-cap.ts";
import { Waits } from "./waits.ts";

export interface RunDeps {
  readonly agent: AgentDefinition;
  /** Looks up an agent that the run may be handed to. */
  readonly agentNamed?: (name: string) => AgentDefinition | undefined;
  readonly request: RunRequest;
  /** Only for log lines. */
  readonly tenant?: string;
  readonly runLog: RunLog;
  /** Events written before the current owner claimed the run. */
  readonly history: readonly RunEvent[];
  /** The session's conversation before this run. */
  readonly session: readonly Message[];
  readonly clock: Clock;
  /** Random source; the system's when absent. */
  readonly chance?: Chance;
  readonly log: Log;
  readonly breakers: Breakers;
  /** Shared by all runs; needed by chains that route. */
  readonly members?: Members;
  /** The model that answered the session's last run. */
  readonly lastModel?: string | undefined;
  /** Blob store for large images and files; without it they stay inline in the events. */
  readonly content?: ContentStore;
  /** A run that only waits for approval is parked after this many ms; never when absent. */
  readonly parkAfter?: number;
  /** How long the run was queued before this owner claimed it, and behind which run. */
  readonly queued?: { readonly ms: number; readonly name: string };
  /** How much of that time its agent was paused: starting `ago` ms ago, for `ms`. */
  readonly queuedPaused?: { readonly ago: number; readonly ms: number };
  /** Why the agent's runs are paused, if they are. */
  readonly agentPause?: () => AgentPause | undefined;
  /** Clock for event times; the system's when absent. */
  readonly now?: () => number;
  /** Waits that no event shows; also read for live status of the run. */
  readonly waits?: Waits;
  readonly stalls?: Stalls;
  /** Set for a run that is being debugged. */
  readonly watch?: CallWatch;
  /** The budgets that apply to the run. */
  readonly meter?: Meter;
  /** Model prices; without it costs are unknown. */
  readonly priceOf?: PriceOf;
  /** Backpressure: returns a promise to await before reading on when the pacing follower has fallen behind. */
  readonly gate?: () => Promise<void> | undefined;
  /** Channel of that follower. */
  readonly reader?: () => string | undefined;
}

/** State shared by the stages of one run: identity, written events, cancellation. */
export class RunContext {
  readonly deps: RunDeps;
  /** The agent of the current round. A field and not a getter: every delta reads it. */
  agent: AgentDefinition;
  hooks: HookChain;
  /** What that agent's tools and hooks receive as `context`. */
  context: unknown;
  readonly live: LiveContext;
  readonly state: RunState;
  readonly times: RunTimes;
  readonly waits: Waits;
  /** Of the run's time limit. */
  countdown: Countdown | undefined;
  #waitsForPeople = false;
  /** Asks a person on behalf of a hook. */
  ask: (question: Question, round: number) => Promise<Verdict> = async () => ({ approved: false });
  /** Characters produced by the run's generations. */
  produced: number;
  /** Maximum characters of the next answer, from the tokens left. */
  answerCharacters = Number.POSITIVE_INFINITY;
  /** A budget ran out, so the economy model is used. */
  saving = false;
  readonly content: ContentStore;
  /** Tokens of running calls, by call; those of finished calls are in the state. */
  spentBy = emptyMap<string, { readonly usage: Usage; readonly cost?: number }>();
  readonly #controller = new AbortController();
  #fenced = false;
  /** Difference between event times and the monotonic clock, ms. */
  #offset: number;

  constructor(deps: RunDeps) {
    this.deps = deps;
    this.agent = deps.agent;
    this.content = deps.content ?? new ContentStore(undefined);
    this.state = RunState.of(deps.history);
    this.produced = producedIn(deps.history);
    this.state.useIds(deps.session);
    this.times = RunTimes.of(deps.history);
    this.waits = deps.waits ?? new Waits(deps.clock, deps.stalls, { tenant: deps.tenant });
    this.#offset = (deps.now?.() ?? deps.clock.now()) - deps.clock.monotonic();
    if (deps.queued !== undefined) {
      const { ms, name } = deps.queued;
      this.waits.past("queue", name, { since: deps.clock.monotonic() - ms, ms });
    }
    if (deps.queuedPaused !== undefined) {
      const { ago, ms } = deps.queuedPaused;
      this.waits.past("paused", pausedName(deps.request.agent), { since: deps.clock.monotonic() - ago, ms });
    }
    this.live = new LiveContext(deps.request.context, { run: this.run, signal: this.signal });
    this.hooks = this.#hooksOf(this.agent);
  }

  /** Activates the agent that the run was last handed to, with its context and hooks. */
  async activate(): Promise<void> {
    const name = this.state.active?.agent ?? this.deps.agent.name;
    const before = { agent: this.agent, context: this.context };
    if (name !== this.agent.name) this.agent = this.agentNamed(name);
    this.context = await this.live.of(this.agent);
    if (this.agent !== before.agent || this.context !== before.context) this.hooks = this.#hooksOf(this.agent);
  }

  /** Another agent of the run, under the limits of the agent it was started with. */
  agentNamed(name: string): AgentDefinition {
    const { agent, agentNamed } = this.deps;
    const found = name === agent.name ? agent : agentNamed?.(name);
    if (found !== undefined) return { ...found, limits: agent.limits };
    const message = `the run was handed to the agent "${name}", which this program does not have`;
    throw new VenturiError("agent.run", "not_found", message);
  }

  #hooksOf(agent: AgentDefinition): HookChain {
    if (agent.hooks.length === 0) return noHooks;
    const { clock, stalls, request, tenant } = this.deps;
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

  /** The time that the next event would get; unaffected by changes of the wall clock. */
  get now(): number {
    return Math.round(this.deps.clock.monotonic() + this.#offset);
  }

  get run(): string {
    return this.deps.runLog.ownership.run;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The run starts or stops waiting for people only. */
  onAsking(only: boolean): void {
    if (only === this.#waitsForPeople) return;
    this.#waitsForPeople = only;
    if (only) this.countdown?.hold();
    else this.countdown?.letGo();
  }

  /** Stops everything; the first reason wins. */
  abort(reason: VenturiError): void {
    if (!this.signal.aborted) this.#controller.abort(reason);
  }

  /** Another worker owns the run: all further writes are refused. */
  fence(): void {
    this.#fenced = true;
  }

  get fenced(): boolean {
    return this.#fenced;
  }

  /** Writes and applies the event; committed with the next group. */
  emit(body: EventBody): RunEvent {
    if (this.#fenced) throw this.signal.reason;
    // The checks below concern calls; text deltas, the most frequent events, skip them.
    if (body.type !== "text.delta") {
      mayFollow(this.state, body);
      if (!textOnly(body.type)) this.waits.putOn(body, this.#offset);
      if (body.type === "run.finished" || body.type === "run.failed") this.#time(body);
    }
    const event = this.deps.runLog.write(body);
    this.state.apply(event);
    const { times } = this;
    if (event.type === "text.delta" && times.streaming && event.at - times.at < stallFrom) {
      times.deltas += 1;
      if (event.at > times.at) times.at = event.at;
    } else {
      times.take(event);
      this.#offset = event.at - this.deps.clock.monotonic();
    }
    return event;
  }

  /** The run's times including the final wait, up to this event's own timestamp: the same sum as a reader gets from the events. */
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
    await this.waits.during("journal", "", this.deps.runLog.flush());
    return event;
  }

  /** The `cost` field of a generation's event. */
  costOf(model: string, usage: Usage | undefined): { cost?: number } {
    const cost = usage === undefined ? undefined : costOf(usage, this.deps.priceOf?.(model));
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

/** Shared by all runs without hooks. */
const noHooks = new HookChain([], { clock: systemClock, fail: () => {} }, nobody());

function nobody(): ConstructorParameters<typeof HookChain>[2] {
  return { run: "", agent: "", context: undefined, depth: 0, signal: new AbortController().signal };
}

/** The error for a `cancel` signal. */
export const cancelled = ({ reason, details }: Signal["body"]): VenturiError =>
  new VenturiError("agent.run", "stream_interrupted", String(reason ?? "the run was cancelled"), {
    ...(typeof details === "object" && details !== null ? { details: { ...details } } : {}),
  });
