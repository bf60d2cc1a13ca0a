import { performance } from "node:perf_hooks";
import { type HrTime, type Span, SpanKind } from "@opentelemetry/api";
import type { Claim } from "../../core/journal/journal.ts";
import type { Hedged } from "../../core/run/event-fields.ts";
import type { EventOf, TerminalEvent } from "../../core/run/events.ts";
import { defaultTenant } from "../../core/run/run-request.ts";
import type { Waited } from "../../core/run/time-parts.ts";
import { attributes, labels, spans } from "../base/names.ts";
import { originNow } from "../base/origin.ts";
import { formatTraceparent, parseTraceparent } from "../base/traceparent.ts";
import type { Body } from "./body.ts";
import { lastAsked } from "./content.ts";
import { endSpan, type Instrumentation } from "./instrumentation.ts";
import { RunAppends } from "./journal.ts";
import { errorType, failed, good, mark, type Outcome } from "./outcome.ts";
import { RoundTrace } from "./round-trace.ts";
import { RunSummary } from "./run-summary.ts";

/** An open operation below a run, ended with the run at the latest. */
export interface Pending {
  /** `parked`: it starts again with the run's next owner. */
  abandon(how?: "parked"): void;
}

/** Lookup of the traces of open runs. */
export interface RunRegister {
  add(trace: RunTrace): void;
  remove(trace: RunTrace): void;
}

export interface RunFacts {
  readonly agent: string;
  readonly config: string | undefined;
  /** Trace context of the previous owner, when the run is resumed. */
  readonly earlier: string | undefined;
  readonly resumed: boolean;
  /** When this process claimed the run, `performance.now()` milliseconds. */
  readonly startedAt: number;
  readonly register: RunRegister;
  /** The run was queued, so whoever started it is not waiting, unless it was a tool. */
  readonly queued: boolean;
  /** What earlier owners of the run did. */
  readonly before: { readonly generations: number; readonly toolCalls: number };
}

interface Spent {
  readonly cost?: number;
  /** As `provider/model`. */
  readonly model?: string;
  readonly hedged?: Hedged;
}

/** A run while this process owns it: its root span and everything open below it. */
export class RunTrace {
  readonly run: string;
  readonly agent: string;
  readonly session: string | undefined;
  /** Undefined for the default tenant. */
  readonly tenant: string | undefined;
  readonly span: Span;
  readonly traceparent: string;
  readonly origin = originNow();
  readonly pending = new Set<Pending>();
  readonly #measure: Instrumentation;
  readonly #started: number;
  readonly appends: RunAppends;
  readonly #register: RunRegister;
  readonly #before: RunFacts["before"];
  #round: RoundTrace | undefined;
  #ended = false;
  readonly #summary = new RunSummary();
  /** Of the last round, as `provider/model`. */
  #model = "";

  constructor(measure: Instrumentation, claim: Claim, facts: RunFacts) {
    const { run, session } = claim.ownership;
    this.#measure = measure;
    this.run = run;
    this.agent = facts.agent;
    this.session = session;
    this.tenant = claim.tenant === defaultTenant ? undefined : claim.tenant;
    this.#started = facts.startedAt;
    this.#before = facts.before;
    const asked = parseTraceparent(claim.request.traceparent);
    const follows = facts.resumed || (facts.queued && claim.request.parent === undefined);
    const links = follows ? [parseTraceparent(facts.earlier), asked] : [];
    this.span = measure.sdk.tracer.startSpan(
      `${spans.agent} ${facts.agent}`,
      {
        kind: SpanKind.INTERNAL,
        startTime: this.origin.time(this.#started),
        attributes: {
          [attributes.operation]: "invoke_agent",
          [attributes.agent]: facts.agent,
          [attributes.run]: run,
          ...(session === undefined ? {} : { [attributes.conversation]: session }),
          ...(this.tenant === undefined ? {} : { [attributes.tenant]: this.tenant }),
          ...(facts.config === undefined ? {} : { [attributes.config]: facts.config }),
          ...(facts.resumed ? { [attributes.resumed]: true } : {}),
        },
        links: links.filter((context) => context !== undefined).map((context) => ({ context })),
      },
      follows ? undefined : asked,
    );
    this.traceparent = formatTraceparent(this.span.spanContext());
    this.appends = new RunAppends(measure, this);
    if (this.span.isRecording()) {
      measure.ring.open(run, claim.request.parent?.run);
      if (measure.content.captured) {
        const { input } = claim.request;
        this.span.setAttribute(attributes.inputMessages, measure.content.request(input));
        this.span.setAttribute(attributes.inputText, measure.content.text(lastAsked(input)));
      }
    }
    measure.sdk.instruments.runsActive.value++;
    this.#register = facts.register;
    facts.register.add(this);
  }

  /** The round with this number. A run resumed mid-round has no `round.started` for it. */
  round(index: number): RoundTrace {
    if (this.#round?.index === index) return this.#round;
    return this.#open(new RoundTrace(this.#measure, this, { index, attempt: undefined, provider: "", model: "" }));
  }

  roundStarted(body: Body<"round.started">): void {
    const before = this.#round;
    if (body.warnings !== undefined) {
      const set = this.#measure.sdk.sets.of({ [attributes.providerKey]: body.provider });
      this.#measure.sdk.instruments.unsentFields(set).value += body.warnings.length;
    }
    const round = new RoundTrace(this.#measure, this, {
      index: body.round,
      attempt: body.attempt,
      provider: body.provider ?? "",
      model: body.model,
    });
    if (before?.index === body.round) this.#summary[before.triedAgain(round)]++;
    this.#summary.asked(body.provider, body.model);
    this.#model = body.model;
    this.#open(round);
  }

  generationFailed(body: Body<"generation.failed">): void {
    this.round(body.round).failed(body);
  }

  callRejected(body: Body<"tool_call.rejected">): void {
    this.#summary.toolCalls++;
    this.round(body.round).rejected(body);
  }

  toolFinished(ok: boolean): void {
    this.#summary.toolCalls++;
    if (!ok) this.#summary.toolFailures++;
  }

  /** A generation ended; `maxGap` is the longest gap between two of its chunks, ms. */
  generationEnded(provider: string, model: string, maxGap: number): void {
    this.#summary.generations++;
    this.#summary.asked(provider, model);
    this.#summary.maxGap = Math.max(this.#summary.maxGap, maxGap);
  }

  /** Cost of a generation, of the current model unless another is named, and of its hedge, if known. */
  spent({ cost, model = this.#model, hedged }: Spent): void {
    if (cost !== undefined) this.#cost(cost, model);
    if (hedged?.cost !== undefined) this.#cost(hedged.cost, hedged.model);
  }

  /** `name`: as `provider/model`. */
  #cost(cost: number, name: string): void {
    const { sdk, providers } = this.#measure;
    const { sets, instruments } = sdk;
    const [key = ""] = name.split("/", 1);
    const model = name.slice(key.length + 1) || undefined;
    const of = { [attributes.provider]: providers.get(key) ?? (key || undefined), [attributes.requestModel]: model };
    instruments.cost(sets.of({ ...this.#who, ...of })).value += cost;
  }

  stalled(ms: number, culprit: string | undefined): void {
    this.span.addEvent("venturi.stalled", {
      [attributes.stalledMs]: Math.round(ms),
      ...(culprit === undefined ? {} : { [attributes.culprit]: culprit }),
    });
  }

  /** A wait that no other span shows: a hook, a retried commit, its turn in the queue. */
  waited({ for: part, name, from, ms }: Waited): void {
    if (part === "queue") this.#measure.sdk.service.took("venturi.queue.wait", ms, { queue: "journal" });
    const span = this.#measure.sdk.tracer.startSpan(
      `${spans.wait} ${part}`,
      {
        startTime: hrTime(from),
        attributes: { [attributes.waitFor]: part, ...(name === undefined ? {} : { [attributes.waitName]: name }) },
      },
      this.span.spanContext(),
    );
    endSpan(this.#measure, this.run, span, hrTime(from + ms));
  }

  roundRetracted(body: Body<"round.retracted">): void {
    this.round(body.round).retracted(body.reason);
  }

  roundFinished(body: Body<"round.finished">): void {
    this.round(body.round).touch();
  }

  finished(event: Omit<TerminalEvent, "run" | "seq" | "at">): void {
    this.span.setAttribute(attributes.rounds, event.rounds);
    if (event.type === "run.finished") {
      this.span.setAttribute(attributes.finish, (event as EventOf<"run.finished">).finish);
    }
    if (this.span.isRecording()) this.span.setAttributes(this.#summary.attributes(event, this.#measure.content));
    const now = performance.now();
    const { sets, instruments } = this.#measure.sdk;
    const who = sets.of(this.#who);
    let seconds = 0;
    for (const [part, milliseconds] of Object.entries(event.timing)) {
      if (milliseconds === 0) continue;
      this.span.setAttribute(`${attributes.timing}.${part}`, milliseconds);
      instruments.runTiming(sets.with(who, labels.part, part)).value += milliseconds / 1_000;
      seconds += milliseconds / 1_000;
    }
    const outcome = "error" in event ? endOf(event as EventOf<"run.failed">) : good; // Only failures have this key.
    this.#measured(outcome, seconds);
    this.#end(outcome, now);
  }

  /** Recorded once per run with its whole duration: an owner that parks or loses it has only seen part of it. */
  #measured(outcome: Outcome, seconds: number): void {
    const { sets, instruments } = this.#measure.sdk;
    const set = sets.of(this.#who);
    const within = this.span.spanContext();
    const error = errorType(outcome);
    const timed = error === undefined ? set : sets.with(set, attributes.errorType, error);
    instruments.agentDuration(timed).record(seconds, within);
    instruments.agentGenerations(set).record(this.#before.generations + this.#summary.generations, within);
    instruments.agentToolCalls(set).record(this.#before.toolCalls + this.#summary.toolCalls, within);
  }

  /** Attributes of the run's metrics. */
  get #who(): Readonly<Record<string, string | undefined>> {
    return { [attributes.agent]: this.agent, [attributes.tenant]: this.tenant };
  }

  /** The run was parked for approval; another owner resumes it. */
  parked(): void {
    this.span.setAttribute(attributes.parked, true);
    for (const pending of [...this.pending]) pending.abandon("parked");
    this.#end(good);
  }

  /** The owner stopped before the run ended: fenced, released, or the process is closing. */
  abandon(): void {
    if (this.#ended) return;
    this.span.setAttribute(attributes.abandoned, true);
    this.#end(good);
  }

  #open(round: RoundTrace): RoundTrace {
    this.#round?.end();
    this.#round = round;
    return round;
  }

  #end(outcome: Outcome, now = performance.now()): void {
    if (this.#ended) return;
    this.#ended = true;
    const { sdk } = this.#measure;
    for (const pending of [...this.pending]) pending.abandon();
    this.#round?.end();
    mark(this.span, outcome);
    this.appends.end();
    endSpan(this.#measure, this.run, this.span, this.origin.time(now));
    sdk.instruments.runsActive.value--;
    this.#register.remove(this);
  }
}

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1_000), (ms % 1_000) * 1e6];

const endOf = ({ error: { code, op, err } }: EventOf<"run.failed">): Outcome => failed(code, op, err);
