import type { Clock } from "../core/clock.ts";
import { VenturiError } from "../core/errors.ts";
import type { EventBody, RunEvent } from "../core/events.ts";
import type { RunLog, RunRequest, Signal } from "../core/journal.ts";
import type { Log } from "../core/log.ts";
import type { Message } from "../core/messages.ts";
import type { Stalls } from "../core/stalls.ts";
import type { Usage } from "../core/usage.ts";
import { ContentStore } from "./content.ts";
import type { AgentDefinition } from "./definition.ts";
import { HookChain } from "./hook-chain.ts";
import type { Breakers } from "./model/breaker.ts";
import { producedIn } from "./model/output-cap.ts";
import { orAborted } from "./or-aborted.ts";
import { RunState } from "./state/run-state.ts";
import { TimeKeeper } from "./timing.ts";

export interface RunParts {
  readonly agent: AgentDefinition;
  readonly request: RunRequest;
  /** Whose run it is, for the log. */
  readonly tenant?: string;
  readonly log: RunLog;
  /** What the run has written before the current owner took it up. */
  readonly history: readonly RunEvent[];
  /** The session's conversation before this run. */
  readonly session: readonly Message[];
  readonly clock: Clock;
  readonly logger: Log;
  readonly breakers: Breakers;
  /** Where large images and files are; without it they stay inside the events. */
  readonly content?: ContentStore;
  /** A run that only waits for people is parked after so many ms; never, when absent. */
  readonly parkAfter?: number;
  /** When this owner took the run up, by the monotonic clock. */
  readonly startedAt?: number;
  readonly stalls?: Stalls;
  /** Something to wait for before reading on, when the follower that paces the run has fallen behind. */
  readonly gate?: () => Promise<void> | undefined;
}

/** What the stages of one run share: who it is, what it has written, when it must stop. */
export class RunContext {
  readonly parts: RunParts;
  readonly agent: AgentDefinition;
  readonly state: RunState;
  readonly time: TimeKeeper;
  /** How long people were waited for before this owner took the run up, ms. */
  readonly waited: number;
  /** Characters that its generations have produced. */
  produced: number;
  readonly hooks: HookChain;
  readonly content: ContentStore;
  /** Tokens of calls under way, by call; those of finished ones are part of the state. */
  readonly spentBy = new Map<string, Usage>();
  readonly #controller = new AbortController();
  #fenced = false;

  constructor(parts: RunParts) {
    this.parts = parts;
    this.agent = parts.agent;
    this.content = parts.content ?? new ContentStore(undefined);
    this.state = RunState.of(parts.history);
    this.produced = producedIn(parts.history);
    this.state.useIds(parts.session);
    const began = parts.history[0]?.at;
    const now = parts.clock.now();
    this.waited = this.state.asking.total(now);
    const monotonic = parts.clock.monotonic();
    const { startedAt = monotonic, stalls } = parts;
    this.time = new TimeKeeper(parts.clock, {
      startedAt,
      elapsed: began === undefined ? 0 : now - began - (monotonic - startedAt),
      approval: this.waited,
      stalls,
    });
    this.hooks = new HookChain(
      parts.agent.hooks,
      { clock: parts.clock, stalls, fail: (error) => this.abort(error) },
      {
        run: this.run,
        agent: parts.agent.name,
        signal: this.signal,
        ...(parts.request.session === undefined ? {} : { session: parts.request.session }),
      },
    );
  }

  get run(): string {
    return this.parts.log.ownership.run;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops everything; the first reason counts. */
  abort(reason: VenturiError): void {
    if (!this.signal.aborted) this.#controller.abort(reason);
  }

  /** Another worker owns the run now: every later write is refused. */
  fence(): void {
    this.#fenced = true;
  }

  get fenced(): boolean {
    return this.#fenced;
  }

  /** Written and applied; committed with the next group. */
  emit(body: EventBody): RunEvent {
    if (this.#fenced) throw this.signal.reason;
    const event = this.parts.log.write(body);
    this.state.apply(event);
    return event;
  }

  /** Written, applied and durable. */
  async step(body: EventBody): Promise<RunEvent> {
    const event = this.emit(body);
    await this.parts.log.flush();
    return event;
  }

  /** What is waited for, but not longer than the run goes on. */
  orAborted<T>(work: Promise<T>): Promise<T> {
    return orAborted(work, this.signal);
  }

  throwIfAborted(): void {
    if (this.signal.aborted) throw this.signal.reason;
  }
}

/** The end that a `cancel` signal asks for. */
export const cancelled = ({ reason, details }: Signal["body"]): VenturiError =>
  new VenturiError("agent.run", "stream_interrupted", String(reason ?? "the run was cancelled"), {
    ...(typeof details === "object" && details !== null ? { details: { ...details } } : {}),
  });
