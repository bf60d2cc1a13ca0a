import type { Delta } from "../core/deltas.ts";
import type { VenturiError } from "../core/errors.ts";
import { keepOne } from "../core/keep-one.ts";
import type { Pipeline } from "./decode.ts";
import type { Exchange } from "./http/exchange.ts";
import type { ReadBuffer } from "./http/read-buffer.ts";

/** A streaming response, or one that arrived as a whole. */
export type Answer = { readonly reads: ReadBuffer; readonly pipeline: Pipeline } | { readonly whole: Delta[] };

export interface DeltaSource {
  /** Called when the stream is first read. */
  exchange(): Exchange;
  open(exchange: Exchange): Promise<Answer>;
  /** Takes the deltas that ended the stream; returns whether it ended successfully. */
  ended(deltas: Delta[]): boolean;
  failure(exchange: Exchange, thrown: unknown): VenturiError;
  close(exchange: Exchange, outcome: "complete" | "abandoned"): void;
}

type Step = IteratorResult<Delta[], undefined>;

const done: Step = { done: true, value: undefined };

/** One generation's deltas, one batch per network read. Hand-written because a generator costs several promises per batch. */
export class DeltaStream implements AsyncIterableIterator<Delta[], undefined, undefined> {
  readonly #source: DeltaSource;
  #exchange: Exchange | undefined;
  #answer: Answer | undefined;
  #over = false;

  constructor(source: DeltaSource) {
    this.#source = source;
    keepOne(this);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (this.#over) return Promise.resolve(done);
    if (this.#answer === undefined) return this.#begin();
    try {
      const step = this.#read(this.#answer);
      return step === undefined ? this.#wait(this.#answer) : Promise.resolve(step);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  return(): Promise<Step> {
    this.#end("abandoned");
    return Promise.resolve(done);
  }

  async #begin(): Promise<Step> {
    this.#exchange = this.#source.exchange();
    try {
      this.#answer = await this.#source.open(this.#exchange);
    } catch (thrown) {
      if (this.#over) return done;
      throw this.#failed(thrown);
    }
    return this.#over ? done : (this.#read(this.#answer) ?? this.#wait(this.#answer));
  }

  #wait(answer: Answer): Promise<Step> {
    return "whole" in answer ? Promise.resolve(done) : answer.reads.arrival().then(this.#again);
  }

  readonly #again = (): Step | Promise<Step> => {
    if (this.#over || this.#answer === undefined) return done;
    return this.#read(this.#answer) ?? this.#wait(this.#answer);
  };

  /** The next step if available; undefined when it must be awaited. */
  #read(answer: Answer): Step | undefined {
    try {
      if ("whole" in answer) {
        this.#end("complete");
        return { done: false, value: answer.whole };
      }
      return this.#decode(answer.reads, answer.pipeline);
    } catch (thrown) {
      throw this.#failed(thrown);
    }
  }

  #decode(reads: ReadBuffer, pipeline: Pipeline): Step | undefined {
    for (;;) {
      if (this.#exchange?.stopped !== undefined) throw this.#exchange.stopped;
      const read = reads.take();
      if (read === undefined && !reads.ended) return undefined;
      const deltas: Delta[] = [];
      if (read === undefined) pipeline.end(deltas);
      else pipeline.push(read, deltas);
      // Once the format has ended the connection can be reused, whatever the consumer does with these deltas.
      if (pipeline.finished) this.#end(this.#source.ended(deltas) ? "complete" : "abandoned");
      if (deltas.length > 0) return { done: false, value: deltas };
      if (pipeline.finished) return done;
    }
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
