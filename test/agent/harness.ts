import { Breakers } from "../../src/agent/run/breaker.ts";
import {
  type AgentDefinition,
  defaultTimeouts,
  type Limits,
  type ModelChain,
  type ToolPolicy,
} from "../../src/agent/run/definition.ts";
import { Members } from "../../src/agent/run/members.ts";
import type { Meter } from "../../src/agent/run/metering.ts";
import { runAgent } from "../../src/agent/run-agent.ts";
import type { Ownership, Signal } from "../../src/core/journal/journal.ts";
import type { RunLog } from "../../src/core/journal/run-log.ts";
import type { Message } from "../../src/core/model/messages.ts";
import type { PriceOf } from "../../src/core/model/prices.ts";
import type { Provider } from "../../src/core/model/provider.ts";
import { type Clock, systemClock } from "../../src/core/ports/clock.ts";
import { type Log, silentLog } from "../../src/core/ports/log.ts";
import type { Stalls } from "../../src/core/ports/stalls.ts";
import type { Tool } from "../../src/core/ports/tool.ts";
import type { EventBody, EventOf, EventType, RunEvent, TerminalEvent } from "../../src/core/run/events.ts";
import { isTerminal } from "../../src/core/run/events.ts";
import type { RunRequest } from "../../src/core/run/run-request.ts";
import { RunLimits, ToolPolicySettings } from "../../src/host/config/agents.ts";

/** A log that keeps what is written, and lets a test look at each event as it is written. */
export class ArrayLog implements RunLog {
  readonly events: RunEvent[] = [];
  readonly ownership: Ownership;
  readonly controller = new AbortController();
  onEvent: (event: RunEvent) => void = () => {};
  readonly #clock: Clock;
  #ended = false;

  constructor(clock: Clock, history: readonly RunEvent[] = [], run = "run-1") {
    this.#clock = clock;
    this.events.push(...history);
    this.ownership = { run, session: undefined, epoch: 1, worker: "w", head: history.length };
  }

  get head(): number {
    return this.events.length;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  readonly pressure = undefined;

  write(body: EventBody): RunEvent {
    const event = { ...body, run: this.ownership.run, seq: this.events.length + 1, at: this.#clock.now() } as RunEvent;
    if (this.#ended) return event;
    this.events.push(event);
    this.#ended = isTerminal(event);
    this.onEvent(event);
    return event;
  }

  flush(): Promise<void> {
    return this.signal.aborted ? Promise.reject(this.signal.reason) : Promise.resolve();
  }

  async step(body: EventBody): Promise<RunEvent> {
    const event = this.write(body);
    await this.flush();
    return event;
  }

  readonly parks: { readonly seenSignals: number; readonly wakeAfter: number | undefined }[] = [];
  async park(seenSignals: number, wakeAfter?: number): Promise<void> {
    this.parks.push({ seenSignals, wakeAfter });
  }
}

export interface Setup {
  readonly model: Provider | readonly Provider[];
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<Limits>;
  readonly policy?: Partial<ToolPolicy>;
  readonly chain?: Partial<ModelChain>;
  readonly agent?: Partial<AgentDefinition>;
  readonly request?: Partial<RunRequest>;
  readonly session?: readonly Message[];
  readonly history?: readonly RunEvent[];
  readonly clock?: Clock;
  readonly logger?: Log;
  readonly parkAfter?: number;
  readonly gate?: () => Promise<void> | undefined;
  /** The run's id; run-1 when absent. */
  readonly run?: string;
  readonly tenant?: string;
  readonly stalls?: Stalls;
  readonly startedAt?: number;
  /** Shared with other runs; new ones when absent. */
  readonly breakers?: Breakers;
  /** The same for members of chains. */
  readonly members?: Members;
  readonly lastModel?: string;
  readonly priceOf?: PriceOf;
  readonly meter?: Meter;
  /** Puts something around the log, such as measurement. */
  readonly around?: (log: RunLog) => RunLog;
}

const defaultLimits = RunLimits.parse({});
const defaultPolicy = ToolPolicySettings.parse({});

export function agentOf(setup: Setup): AgentDefinition {
  const providers = Array.isArray(setup.model) ? setup.model : [setup.model as Provider];
  return {
    name: "tester",
    aliases: [],
    description: undefined,
    instructions: "You are a test.",
    inputs: {},
    model: {
      name: "main",
      targets: providers.map((port, index) => ({ name: `p${index}/m`, provider: `p${index}`, model: "m", port })),
      failover: "beforeFirstEvent",
      retry: { max: 0 },
      timeout: defaultTimeouts,
      options: {},
      toolOptions: {},
      contextTokens: undefined,
      ...setup.chain,
    },
    defaults: {},
    options: {},
    overrides: { models: new Map(), options: new Set() },
    tools: () => setup.tools ?? [],
    limits: { tokens: undefined, ...defaultLimits, ...setup.limits },
    toolPolicy: { ...defaultPolicy, grace: 50, ...setup.policy },
    output: undefined,
    whenBusy: "wait",
    hooks: [],
    config: "test",
    revision: "r1",
    ...setup.agent,
  };
}

/** One run of the loop over an array, with everything a test may want to pull. */
export class Bench {
  readonly log: ArrayLog;
  readonly interrupt = new AbortController();
  readonly release = new AbortController();
  readonly setup: Setup;
  readonly #clock: Clock;
  readonly #subscribers = new Set<(signal: Signal) => void>();
  #signals: Signal[] = [];

  constructor(setup: Setup) {
    this.setup = setup;
    this.#clock = setup.clock ?? systemClock;
    this.log = new ArrayLog(this.#clock, setup.history, setup.run);
  }

  get events(): RunEvent[] {
    return this.log.events;
  }

  get types(): EventType[] {
    return this.events.map((event) => event.type);
  }

  get terminal(): TerminalEvent {
    const last = this.events.at(-1);
    if (last === undefined || !isTerminal(last)) throw new Error(`no terminal event: ${this.types.join(" ")}`);
    return last;
  }

  of<T extends EventType>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  signal(kind: Signal["kind"], body: Signal["body"]): void {
    const signal = { number: this.#signals.length + 1, id: `s${this.#signals.length + 1}`, kind, body };
    this.#signals.push(signal);
    for (const subscriber of this.#subscribers) subscriber(signal);
  }

  async run(): Promise<this> {
    const { setup } = this;
    const request: RunRequest = { agent: "tester", input: { text: "go" }, ...setup.request };
    const feed = {
      subscribe: (after: number, callback: (signal: Signal) => void) => {
        for (const signal of this.#signals) if (signal.number > after) callback(signal);
        this.#subscribers.add(callback);
        return () => this.#subscribers.delete(callback);
      },
    };
    await runAgent(
      {
        agent: agentOf(setup),
        request,
        runLog: setup.around?.(this.log) ?? this.log,
        history: setup.history ?? [],
        session: setup.session ?? [],
        clock: this.#clock,
        log: setup.logger ?? silentLog,
        breakers: setup.breakers ?? new Breakers(this.#clock),
        members: setup.members ?? new Members(this.#clock),
        ...(setup.lastModel === undefined ? {} : { lastModel: setup.lastModel }),
        ...(setup.meter === undefined ? {} : { meter: setup.meter }),
        ...(setup.priceOf === undefined ? {} : { priceOf: setup.priceOf }),
        ...(setup.parkAfter === undefined ? {} : { parkAfter: setup.parkAfter }),
        ...(setup.gate === undefined ? {} : { gate: setup.gate }),
        ...(setup.tenant === undefined ? {} : { tenant: setup.tenant }),
        ...(setup.stalls === undefined ? {} : { stalls: setup.stalls }),
        ...(setup.startedAt === undefined ? {} : { startedAt: setup.startedAt }),
      },
      { feed, release: this.release.signal, interrupt: this.interrupt.signal },
    );
    return this;
  }

  /** Resolves with the first event of that type, written already or not. */
  when<T extends EventType>(type: T): Promise<EventOf<T>> {
    const [found] = this.of(type);
    if (found) return Promise.resolve(found);
    return new Promise((resolve) => {
      const before = this.log.onEvent;
      this.log.onEvent = (event) => {
        before(event);
        if (event.type === type) resolve(event as EventOf<T>);
      };
    });
  }
}

export const run = (setup: Setup): Promise<Bench> => new Bench(setup).run();

/** A tool that takes anything and does what it is told. */
export const tool = (name: string, call: Tool["call"], more: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  parameters: { type: "object" },
  effect: "pure",
  call,
  ...more,
});

/** A promise to be settled by hand. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
