import type { VenturiError } from "../../core/errors/errors.ts";
import type { Delta } from "../../core/model/deltas.ts";
import type { GenerationContext, GenerationRequest } from "../../core/model/provider.ts";
import { PolledStream } from "../../core/ports/polled-stream.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import type { Pipeline } from "../decode.ts";
import { Exchange } from "./exchange.ts";
import type { ReadBuffer } from "./reads.ts";

/** A streaming response, or one that arrived as a whole. */
export type Answer = Streaming | { readonly whole: Delta[] };

interface Streaming {
  readonly reads: ReadBuffer;
  readonly pipeline: Pipeline;
  /** Explains an answer that could not be decoded at all, from its first bytes (an HTML page, for example). */
  explain(error: VenturiError, head: Uint8Array): VenturiError;
}

/** What all streams of a provider share: with closures of its own, each would keep 400 bytes more. */
export interface DeltaSource {
  open(exchange: Exchange, request: GenerationRequest, context: GenerationContext): Promise<Answer>;
  /** Inspects the deltas that ended the stream; returns whether it ended successfully. */
  inspect(deltas: Delta[]): boolean;
  failure(exchange: Exchange, thrown: unknown): VenturiError;
  close(exchange: Exchange, outcome: "complete" | "abandoned"): void;
}

type Step = IteratorResult<Delta[], undefined>;

const headSize = 512;

const done: Step = { done: true, value: undefined };

/** One generation's deltas, one batch per network read. */
export class DeltaStream extends PolledStream<Delta[]> {
  readonly #source: DeltaSource;
  readonly #request: GenerationRequest;
  readonly #context: GenerationContext;
  #exchange: Exchange | undefined;
  #opening: Promise<void> | undefined;
  #answer: Answer | undefined;
  #failure: { readonly error: unknown } | undefined;
  #over = false;
  /** The first bytes of the answer, kept until a delta was decoded. */
  #head: Uint8Array | undefined = new Uint8Array();

  constructor(source: DeltaSource, request: GenerationRequest, context: GenerationContext) {
    super();
    this.#source = source;
    this.#request = request;
    this.#context = context;
    keepOne(this);
  }

  poll(): Step | undefined {
    if (this.#failure !== undefined) return this.#reject(this.#failure.error);
    if (this.#over) return done;
    const answer = this.#answer;
    if (answer === undefined) return undefined;
    try {
      if ("reads" in answer) return this.#decode(answer);
      this.#end("complete");
      return { done: false, value: answer.whole };
    } catch (thrown) {
      throw this.#failed(thrown);
    }
  }

  arrival(): Promise<void> {
    const answer = this.#answer;
    if (answer !== undefined && "reads" in answer && !this.#over) return answer.reads.arrival();
    this.#opening ??= this.#open();
    return this.#opening;
  }

  return(): Promise<Step> {
    this.#end("abandoned");
    return Promise.resolve(done);
  }

  async #open(): Promise<void> {
    this.#exchange = new Exchange("provider.stream", this.#context);
    try {
      this.#answer = await this.#source.open(this.#exchange, this.#request, this.#context);
    } catch (thrown) {
      if (!this.#over) this.#failure = { error: this.#failed(thrown) };
    }
  }

  /** Throws the error once; afterwards the stream has ended. */
  #reject(error: unknown): never {
    this.#failure = undefined;
    throw error;
  }

  #decode(answer: Streaming): Step | undefined {
    const { reads, pipeline } = answer;
    for (;;) {
      if (this.#exchange?.stopped !== undefined) throw this.#exchange.stopped;
      const read = reads.take();
      if (read === undefined && !reads.ended) return undefined;
      const deltas: Delta[] = [];
      if (read === undefined) pipeline.end(deltas);
      else pipeline.push(read, deltas);
      if (this.#head !== undefined) this.#begin(this.#head, read, { answer, deltas });
      // The format has ended, so the connection can be reused, whatever the consumer does with these deltas.
      if (pipeline.finished) this.#end(this.#source.inspect(deltas) ? "complete" : "abandoned");
      if (deltas.length > 0) return { done: false, value: deltas };
      if (pipeline.finished) return done;
    }
  }

  /** Before the first delta: keeps the bytes received, and reports when the answer begins or why it is not one. */
  #begin(
    head: Uint8Array,
    read: Uint8Array | undefined,
    { answer, deltas }: { answer: Streaming; deltas: Delta[] },
  ): void {
    if (read !== undefined && head.length < headSize) this.#head = Buffer.concat([head, read.subarray(0, headSize)]);
    const [first] = deltas;
    if (first === undefined) return;
    if (first.type === "error") deltas[0] = { type: "error", error: answer.explain(first.error, this.#head ?? head) };
    else this.#exchange?.answered();
    this.#head = undefined;
  }

  #failed(thrown: unknown): unknown {
    const error = this.#exchange === undefined ? thrown : this.#source.failure(this.#exchange, thrown);
    this.#end("abandoned");
    return error;
  }

  #end(outcome: "complete" | "abandoned"): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#exchange !== undefined) this.#source.close(this.#exchange, outcome);
  }
}
