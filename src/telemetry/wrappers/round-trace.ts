import { performance } from "node:perf_hooks";
import { type Context, type Span, trace } from "@opentelemetry/api";
import { keepOne } from "../../core/keep-one.ts";
import { attributes, labels, providerName, spans } from "../names.ts";
import { endSpan, type Instrumentation } from "./instrumentation.ts";
import type { RunTrace } from "./run-trace.ts";

interface RoundFacts {
  readonly index: number;
  /** Undefined when the round began in an earlier attempt at the run. */
  readonly attempt: number | undefined;
  /** As the config names it. */
  readonly provider: string;
  readonly model: string;
}

/** One attempt at a round: a generation and its tool calls. It ends when the next begins, at the time its last part ended. */
export class RoundTrace {
  readonly index: number;
  readonly span: Span;
  readonly context: Context;
  readonly #facts: RoundFacts;
  readonly #measure: Instrumentation;
  readonly #run: RunTrace;
  #lastAt = performance.now();
  #code: string | undefined;
  /** The conventions' name of the provider, told by the generation. */
  provider: string;

  constructor(measure: Instrumentation, run: RunTrace, facts: RoundFacts) {
    this.#measure = measure;
    this.#run = run;
    this.#facts = facts;
    this.index = facts.index;
    this.provider = providerName(facts.provider);
    this.span = measure.sdk.tracer.startSpan(
      spans.round,
      {
        startTime: run.origin.time(this.#lastAt),
        attributes: {
          [attributes.roundIndex]: facts.index,
          ...(facts.attempt === undefined ? {} : { [attributes.roundAttempt]: facts.attempt }),
        },
      },
      run.context,
    );
    this.context = trace.setSpan(run.context, this.span);
    keepOne(this);
  }

  /** Something of the round happened or ended now. */
  touch(): void {
    this.#lastAt = performance.now();
  }

  retracted(code: string): void {
    this.#code = code;
    this.span.setAttribute(attributes.retracted, true);
    this.touch();
    this.#count("retractions");
  }

  triedAgain(next: RoundTrace): void {
    const same = this.#facts.model === next.#facts.model && this.#facts.provider === next.#facts.provider;
    this.#count(same ? "retries" : "failovers");
  }

  end(): void {
    endSpan(this.#measure, this.#run.run, this.span, this.#run.origin.time(this.#lastAt));
  }

  #count(what: "retractions" | "retries" | "failovers"): void {
    const { instruments, sets } = this.#measure.sdk;
    const set = sets.of({ [attributes.provider]: this.provider, [labels.code]: this.#code ?? "other" });
    instruments[what](set).value++;
  }
}
