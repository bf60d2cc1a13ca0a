import { performance } from "node:perf_hooks";
import { type Context, type Span, SpanKind, trace } from "@opentelemetry/api";
import type { EventBody, EventOf, TerminalEvent } from "../../core/events.ts";
import type { Claim } from "../../core/journal.ts";
import { appendBlock } from "../chunk-spans/block.ts";
import { AppendColumns } from "../chunk-spans/columns.ts";
import { attributes, labels, spans } from "../names.ts";
import { originNow } from "../sdk/origin.ts";
import { contextOf, formatTraceparent, parseTraceparent } from "../sdk/traceparent.ts";
import { emitBlock, endSpan, type Instrumentation } from "./instrumentation.ts";
import { errorType, failed, good, mark, type Outcome } from "./outcome.ts";
import { RoundTrace } from "./round-trace.ts";

export type Body<T extends EventBody["type"]> = Extract<EventBody, { type: T }>;

/** Something under way below a run that must end with it at the latest. */
export interface Pending {
  abandon(): void;
}

export interface RunFacts {
  readonly agent: string;
  readonly config: string | undefined;
  /** Where the run was before, when another owner takes it up. */
  readonly earlier: string | undefined;
  readonly resumed: boolean;
  /** Waited in line, so that whoever asked for it is not waiting for it, unless that was a tool. */
  readonly queued: boolean;
}

/** A run while this process owns it: its root span and whatever is open below it. */
export class RunTrace {
  readonly run: string;
  readonly agent: string;
  readonly session: string | undefined;
  readonly span: Span;
  readonly context: Context;
  readonly traceparent: string;
  readonly origin = originNow();
  readonly pending = new Set<Pending>();
  readonly #measure: Instrumentation;
  readonly #started = performance.now();
  readonly #appends: AppendColumns | undefined;
  #round: RoundTrace | undefined;
  #ended = false;

  constructor(measure: Instrumentation, claim: Claim, facts: RunFacts) {
    const { run, session } = claim.ownership;
    this.#measure = measure;
    this.run = run;
    this.agent = facts.agent;
    this.session = session;
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
          ...(facts.config === undefined ? {} : { [attributes.config]: facts.config }),
          ...(facts.resumed ? { [attributes.resumed]: true } : {}),
        },
        links: links.filter((context) => context !== undefined).map((context) => ({ context })),
      },
      contextOf(follows ? undefined : asked),
    );
    this.context = trace.setSpan(contextOf(undefined), this.span);
    this.traceparent = formatTraceparent(this.span.spanContext());
    if (this.span.isRecording()) {
      this.#appends = new AppendColumns(measure.settings.maxChunkSpans);
      measure.ring.open(run, claim.request.parent?.run);
    }
    measure.sdk.instruments.runsActive.value++;
    measure.traces.add(this);
  }

  /** The round of this number. A run that is taken up in the middle of one has no `round.started` for it. */
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
    if (before?.index === body.round) before.triedAgain(round);
    this.#open(round);
  }

  roundRetracted(body: Body<"round.retracted">): void {
    this.round(body.round).retracted(body.reason);
  }

  roundFinished(body: Body<"round.finished">): void {
    this.round(body.round).touch();
  }

  appended(events: number, runs: number, start: number, end: number): void {
    this.#appends?.push(events, runs, start, end);
  }

  finished(event: Omit<TerminalEvent, "run" | "seq" | "at">): void {
    this.span.setAttribute(attributes.rounds, event.rounds);
    if (event.type === "run.finished") {
      this.span.setAttribute(attributes.finish, (event as EventOf<"run.finished">).finish);
    }
    for (const [part, milliseconds] of Object.entries(event.timing)) {
      this.span.setAttribute(`${attributes.timing}.${part}`, milliseconds);
      const set = this.#measure.sdk.sets.of({ [labels.part]: part });
      this.#measure.sdk.instruments.runTiming(set).record(milliseconds / 1_000);
    }
    this.#end(
      "error" in event
        ? endOf(event as EventOf<"run.failed">) // by the key that only it has
        : good,
    );
  }

  /** The owner stopped until somebody answers; another one goes on. */
  parked(): void {
    this.span.setAttribute(attributes.parked, true);
    this.#end(good);
  }

  /** The owner stopped without an end of the run: fenced off, given back, or the process is closing. */
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

  #end(outcome: Outcome): void {
    if (this.#ended) return;
    this.#ended = true;
    const { sdk, traces } = this.#measure;
    for (const pending of [...this.pending]) pending.abandon();
    this.#round?.end();
    mark(this.span, outcome);
    const now = performance.now();
    if (this.#appends !== undefined) {
      const { suppressed } = this.#appends;
      if (suppressed > 0) this.span.setAttribute(attributes.appendsSuppressed, suppressed);
      emitBlock(
        this.#measure,
        this.run,
        appendBlock(this.span.spanContext(), this.origin, this.#appends),
        this.context,
      );
    }
    endSpan(this.#measure, this.run, this.span, this.origin.time(now));
    const set = sdk.sets.of({ [attributes.agent]: this.agent, [attributes.errorType]: errorType(outcome) });
    sdk.instruments.agentDuration(set).record((now - this.#started) / 1_000);
    sdk.instruments.runsActive.value--;
    traces.remove(this);
  }
}

const endOf = ({ error: { code, op, err } }: EventOf<"run.failed">): Outcome => failed(code, op, err);
