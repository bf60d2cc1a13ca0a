import { type Attributes, context as active } from "@opentelemetry/api";
import type { Delta } from "../../core/model/deltas.ts";
import {
  type GenerationContext,
  type GenerationRequest,
  type Provider,
  type StreamObserver,
  withoutGenerations,
} from "../../core/model/provider.ts";
import { PolledStream, polled } from "../../core/ports/polled-stream.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import { attributes } from "../base/names.ts";
import { GenerationTrace } from "./generation-trace.ts";
import { good, type Outcome, outcomeOf } from "./outcome.ts";
import { ProviderMetrics } from "./provider-metrics.ts";
import type { Tracing } from "./traces.ts";

/** Wraps a provider with a span per generation and an observer on its stream. */
export function measuredProvider(measure: Tracing, name: { key: string; type: string }, provider: Provider): Provider {
  const { instruments, sets } = measure.sdk;
  const metrics = new ProviderMetrics(instruments, sets, { ...name, server: serverOf(provider.endpoint) });
  measure.providers.set(metrics.key, metrics.name);
  const begin = (request: GenerationRequest, context: GenerationContext): GenerationTrace => {
    const generation = new GenerationTrace(measure, metrics, request, context);
    context.traceparent = generation.traceparent;
    const { observer } = context;
    // An observer left from an earlier generation with the same context has ended.
    const others = observer instanceof GenerationTrace ? undefined : observer;
    context.observer = others === undefined ? generation : both(generation, others);
    return generation;
  };
  const { stream, generate } = provider;
  const open: Measured["open"] | undefined = stream && ((request, context) => stream.call(provider, request, context));
  const measured = open && { begin, open };
  return {
    ...withoutGenerations(provider),
    ...(measured === undefined
      ? {}
      : {
          stream: (request: GenerationRequest, context: GenerationContext) =>
            new MeasuredStream(measured, request, context),
        }),
    ...(generate === undefined
      ? {}
      : {
          async generate(request: GenerationRequest, context: GenerationContext) {
            const trace = begin(request, context);
            trace.streaming(false);
            try {
              const generation = await active.with(trace.context, () => generate.call(provider, request, context));
              trace.whole(generation);
              trace.end(good);
              return generation;
            } catch (thrown) {
              trace.end(outcomeOf(thrown, context.signal));
              throw thrown;
            }
          },
        }),
  };
}

type Batch = readonly Delta[];

/** What the streams of one provider share. */
interface Measured {
  begin(request: GenerationRequest, context: GenerationContext): GenerationTrace;
  open(request: GenerationRequest, context: GenerationContext): AsyncIterable<Batch>;
}

/** Starts on first read, like a generator. */
class MeasuredStream extends PolledStream<Batch> {
  readonly #provider: Measured;
  readonly #request: GenerationRequest;
  readonly #context: GenerationContext;
  #trace: GenerationTrace | undefined;
  #inner: PolledStream<Batch> | undefined;
  #started = false;
  #over = false;

  constructor(provider: Measured, request: GenerationRequest, context: GenerationContext) {
    super();
    this.#provider = provider;
    this.#request = request;
    this.#context = context;
    keepOne(this);
  }

  poll(): IteratorResult<Batch, undefined> | undefined {
    if (this.#over) return { done: true, value: undefined };
    try {
      const step = this.#inner?.poll();
      if (step === undefined) return this.#inner === undefined ? this.#start() : undefined;
      if (!step.done) this.#trace?.read(step.value);
      else this.#end(undefined);
      return step;
    } catch (thrown) {
      this.#end(outcomeOf(thrown, this.#context.signal));
      throw thrown;
    }
  }

  /** Only the first wait runs in the generation's context: it sends the request, and HTTP client spans become children. */
  arrival(): Promise<void> {
    const inner = this.#inner;
    if (inner === undefined) return Promise.resolve();
    if (this.#started || this.#trace === undefined) return inner.arrival();
    this.#started = true;
    return active.with(this.#trace.context, () => inner.arrival());
  }

  async return(): Promise<IteratorResult<Batch, undefined>> {
    this.#over = true;
    this.#trace?.left();
    await this.#inner?.return();
    return { done: true, value: undefined };
  }

  #start(): undefined {
    const trace = this.#provider.begin(this.#request, this.#context);
    this.#trace = trace;
    trace.streaming(true);
    this.#inner = active.with(trace.context, () =>
      polled(this.#provider.open(this.#request, this.#context), this.#context.signal),
    );
  }

  #end(outcome: Outcome | undefined): void {
    this.#over = true;
    this.#trace?.end(outcome);
  }
}

function both(first: StreamObserver, second: StreamObserver): StreamObserver {
  const { bytes } = second;
  return {
    chunk(kind, size, start, end) {
      first.chunk(kind, size, start, end);
      second.chunk(kind, size, start, end);
    },
    accumulated(chunk, call, size, sealed, start, end) {
      first.accumulated(chunk, call, size, sealed, start, end);
      second.accumulated(chunk, call, size, sealed, start, end);
    },
    quirk(name) {
      first.quirk(name);
      second.quirk(name);
    },
    ...(bytes === undefined ? {} : { bytes: (read: Uint8Array) => bytes.call(second, read) }),
  };
}

function serverOf(endpoint: string | undefined): Attributes {
  if (endpoint === undefined || !URL.canParse(endpoint)) return {};
  const { hostname, port, protocol } = new URL(endpoint);
  return {
    [attributes.serverAddress]: hostname,
    [attributes.serverPort]: Number(port) || (protocol === "http:" ? 80 : 443),
  };
}
