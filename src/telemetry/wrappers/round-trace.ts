import { performance } from "node:perf_hooks";
import type { Span } from "@opentelemetry/api";
import { keepOne } from "../../core/values/keep-one.ts";
import { attributes, labels, providerName, spans } from "../base/names.ts";
import type { Origin } from "../base/origin.ts";
import type { Body } from "./body.ts";
import { endSpan, type Instrumentation } from "./instrumentation.ts";
import { failed, mark } from "./outcome.ts";

/** What a round needs of its run. */
interface RoundParent {
  readonly run: string;
  readonly origin: Origin;
  readonly span: Span;
}

interface RoundFacts {
  readonly index: number;
  /** Undefined when an earlier owner of the run started the round. */
  readonly attempt: number | undefined;
  /** Name in the config. */
  readonly provider: string;
  readonly model: string;
}

/** One attempt at a round: a generation and its tool calls. It ends when the next begins, at the time the last of them ended. */
export class RoundTrace {
  readonly index: number;
  readonly span: Span;
  readonly #facts: RoundFacts;
  readonly #measure: Instrumentation;
  readonly #run: RoundParent;
  #lastAt = performance.now();
  #code: string | undefined;
  #rejected = 0;
  #backoff: Span | undefined;
  /** Provider attributes for metrics; set by the generation. */
  provider: Readonly<Record<string, string | undefined>>;

  constructor(measure: Instrumentation, run: RoundParent, facts: RoundFacts) {
    this.#measure = measure;
    this.#run = run;
    this.#facts = facts;
    this.index = facts.index;
    this.provider = {
      [attributes.provider]: providerName(facts.provider),
      [attributes.providerKey]: facts.provider || undefined,
    };
    this.span = measure.sdk.tracer.startSpan(
      spans.round,
      {
        startTime: run.origin.time(this.#lastAt),
        attributes: {
          [attributes.roundIndex]: facts.index,
          ...(facts.attempt === undefined ? {} : { [attributes.roundAttempt]: facts.attempt }),
        },
      },
      run.span.spanContext(),
    );
    keepOne(this);
  }

  /** Records activity of the round. */
  touch(): void {
    this.#lastAt = performance.now();
  }

  retracted(code: string): void {
    this.#code = code;
    this.span.setAttribute(attributes.retracted, true);
    this.touch();
    this.#count("retractions");
  }

  /** The attempt failed; the wait of `retryMs` before the next one gets its own span. */
  failed({ error, retryMs }: Body<"generation.failed">): void {
    this.#code = error.code;
    this.touch();
    mark(this.span, failed(error.code, error.op, error.err));
    const status = error.details?.status;
    if (typeof status === "number") this.span.setAttribute(attributes.statusCode, status);
    if (retryMs === undefined) return;
    const asked = error.details?.retryAfterMs;
    this.#backoff = this.#measure.sdk.tracer.startSpan(
      spans.backoff,
      {
        startTime: this.#run.origin.time(this.#lastAt),
        attributes: {
          [attributes.backoffMs]: retryMs,
          [attributes.errorType]: error.code,
          ...(typeof asked === "number" ? { [attributes.retryAfterMs]: asked } : {}),
        },
      },
      this.#run.span.spanContext(),
    );
  }

  rejected({ name, error }: Body<"tool_call.rejected">): void {
    this.#rejected++;
    this.span.setAttribute(attributes.rejectedCalls, this.#rejected);
    this.span.addEvent("venturi.tool_call.rejected", {
      [attributes.toolName]: name,
      [attributes.errorType]: error.code,
      "exception.message": error.err,
    });
    this.touch();
  }

  triedAgain(next: RoundTrace): "retries" | "failovers" {
    const same = this.#facts.model === next.#facts.model && this.#facts.provider === next.#facts.provider;
    const again = same ? "retries" : "failovers";
    this.#count(again);
    return again;
  }

  end(): void {
    if (this.#backoff !== undefined) {
      endSpan(this.#measure, this.#run.run, this.#backoff, this.#run.origin.time(performance.now()));
    }
    endSpan(this.#measure, this.#run.run, this.span, this.#run.origin.time(this.#lastAt));
  }

  #count(what: "retractions" | "retries" | "failovers"): void {
    const { instruments, sets } = this.#measure.sdk;
    const set = sets.of({ ...this.provider, [labels.code]: this.#code ?? "other" });
    instruments[what](set).value++;
  }
}
