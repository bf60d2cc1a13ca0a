import { VenturiError, wrap } from "../core/errors/errors.ts";
import { PolledStream, polled } from "../core/ports/polled-stream.ts";
import type { Runs } from "../core/ports/runs.ts";
import { isTerminal, type RunEvent } from "../core/run/events.ts";
import type { RunRequest } from "../core/run/run-request.ts";
import { keepOne } from "../core/values/keep-one.ts";
import { type Chunk, Chunks } from "./chunk.ts";

type Step = IteratorResult<Chunk, undefined>;
type Batch = readonly RunEvent[];

const done: Step = { done: true, value: undefined };

/** A run as chunks: started by the first read, paced by its reader, and cancelled when the reader leaves early. */
export class ChunkStream extends PolledStream<Chunk> {
  readonly #runs: Runs;
  readonly #request: RunRequest;
  readonly #signal: AbortSignal | undefined;
  readonly #chunks = new Chunks();
  #opening: Promise<void> | undefined;
  #run = "";
  #events: PolledStream<Batch> | undefined;
  #batch: Batch = [];
  #at = 0;
  /** Thrown by the next read; only for a run that could not be started. */
  #refusal: { readonly error: unknown } | undefined;
  #over = false;
  #ended = false;

  constructor(runs: Runs, request: RunRequest, signal: AbortSignal | undefined) {
    super();
    this.#runs = runs;
    this.#request = request;
    this.#signal = signal;
    keepOne(this);
  }

  poll(): Step | undefined {
    if (this.#refusal !== undefined) return this.#refuse(this.#refusal.error);
    if (this.#over) return done;
    if (this.#opening === undefined && this.#signal?.aborted) return this.#last(cancelled(this.#signal));
    if (this.#events === undefined) return undefined;
    try {
      return this.#next(this.#events);
    } catch (thrown) {
      this.#ended = true;
      void this.#cancel(); // Nobody reads the run any more; a journal that cannot be read may refuse this too.
      return this.#last(wrap("agent.execute", thrown));
    }
  }

  arrival(): Promise<void> {
    if (this.#events !== undefined) return this.#events.arrival();
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async return(): Promise<Step> {
    const over = this.#over;
    this.#leave();
    if (over || this.#opening === undefined) return done;
    await this.#opening;
    await this.#events?.return();
    if (!this.#ended && this.#run !== "") await this.#cancel();
    return done;
  }

  /** The next event that produces a chunk. */
  #next(events: PolledStream<Batch>): Step | undefined {
    for (;;) {
      let event = this.#at < this.#batch.length ? this.#batch[this.#at++] : undefined;
      if (event === undefined) {
        const step = events.poll();
        if (step === undefined) return undefined;
        if (step.done) return this.#finish();
        event = step.value[0];
        // Most batches hold one event; storing those as well would cost a write barrier per token.
        if (step.value.length > 1) {
          this.#batch = step.value;
          this.#at = 1;
        }
        if (event === undefined) continue;
      }
      if (isTerminal(event)) this.#ended = true;
      const chunk = this.#chunks.of(event);
      if (chunk !== undefined) return { done: false, value: chunk };
    }
  }

  async #open(): Promise<void> {
    try {
      const { run } = await this.#runs.start({ ...this.#request, onDisconnect: "cancel" }, { paced: true });
      this.#run = run;
    } catch (thrown) {
      this.#refusal = { error: thrown };
      return;
    }
    if (this.#over) return; // The reader left while the run was being started; its cancel follows.
    this.#signal?.addEventListener("abort", this.#cancel, { once: true });
    if (this.#signal?.aborted) void this.#cancel(); // Aborted while the run was being started.
    this.#events = polled(this.#runs.follow(this.#run, { channel: "library" }));
  }

  #refuse(error: unknown): never {
    this.#refusal = undefined;
    this.#leave();
    throw error;
  }

  #finish(): Step {
    this.#leave();
    if (!this.#ended) void this.#cancel();
    return done;
  }

  #last(err: VenturiError): Step {
    this.#leave();
    const metadata = { run: this.#run, seq: 0, at: Date.now(), sinceStartMs: 0, gapMs: 0 };
    return { done: false, value: { err, metadata } };
  }

  #leave(): void {
    this.#over = true;
    this.#signal?.removeEventListener("abort", this.#cancel);
  }

  // The run has already ended.
  readonly #cancel = (): Promise<void> => this.#runs.cancel(this.#run, "the caller disconnected").catch(() => {});
}

const cancelled = (signal: AbortSignal): VenturiError =>
  new VenturiError("agent.execute", "stream_interrupted", "the call was cancelled before it began", {
    cause: signal.reason,
  });
