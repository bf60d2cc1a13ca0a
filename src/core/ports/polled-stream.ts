type Step<T> = IteratorResult<T, undefined>;

/**
 * An async iterator that can also be polled. `poll` returns what has arrived without a promise, and only an empty stream is
 * awaited. A wrapper overrides `poll` and passes `arrival` on, so a chain of wrappers costs one promise per wait, not one each.
 */
export abstract class PolledStream<T> implements AsyncIterableIterator<T, undefined, undefined> {
  /** The next step if there is one, `done` at the end, and undefined when `arrival` must be awaited. Throws the failure. */
  abstract poll(): Step<T> | undefined;

  /** Resolves when `poll` should be called again. Never rejects: `poll` throws instead. */
  abstract arrival(): Promise<void>;

  abstract return(): Promise<Step<T>>;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step<T>> {
    try {
      const step = this.poll();
      if (step !== undefined) return Promise.resolve(step);
      this.#again ??= () => this.poll() ?? this.next();
      return this.arrival().then(this.#again);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  /** Made when it is needed: of a chain of wrappers only the outermost is read as an iterator. */
  #again: (() => Step<T> | Promise<Step<T>>) | undefined;
}

/**
 * Returns the stream itself if it can be polled, whichever copy of this package created it; otherwise polls its iterator, failing as soon
 * as the signal aborts even if the iterator ignores it.
 */
export function polled<T>(stream: AsyncIterable<T>, signal?: AbortSignal): PolledStream<T> {
  return isPolled(stream) ? stream : new PolledIterator(stream[Symbol.asyncIterator](), signal);
}

const isPolled = <T>(stream: AsyncIterable<T>): stream is PolledStream<T> => "poll" in stream && "arrival" in stream;

class PolledIterator<T> extends PolledStream<T> {
  readonly #iterator: AsyncIterator<T>;
  readonly #signal: AbortSignal | undefined;
  #step: Step<T> | undefined;
  #failure: { readonly thrown: unknown } | undefined;
  #arriving: Promise<void> | undefined;
  #wake: () => void = () => {};

  constructor(iterator: AsyncIterator<T>, signal: AbortSignal | undefined) {
    super();
    this.#iterator = iterator;
    this.#signal = signal;
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  poll(): Step<T> | undefined {
    if (this.#failure !== undefined) throw this.#failure.thrown;
    const step = this.#step;
    if (!step?.done) this.#step = undefined;
    return step;
  }

  arrival(): Promise<void> {
    if (this.#step !== undefined || this.#failure !== undefined) return Promise.resolve();
    this.#arriving ??= new Promise((resolve) => {
      this.#wake = resolve;
      this.#iterator.next().then(this.#arrived, this.#failed);
    });
    return this.#arriving;
  }

  async return(): Promise<Step<T>> {
    this.#over();
    this.#step = { done: true, value: undefined };
    await this.#iterator.return?.();
    return this.#step;
  }

  readonly #arrived = (step: IteratorResult<T, unknown>): void => {
    this.#step ??= step.done ? { done: true, value: undefined } : step;
    if (step.done) this.#over();
    this.#settle();
  };

  readonly #failed = (thrown: unknown): void => {
    this.#failure ??= { thrown };
    this.#over();
    this.#settle();
  };

  readonly #onAbort = (): void => {
    this.#failed(this.#signal?.reason);
    // Not awaited: the iterator may be the one that ignores the signal.
    void Promise.resolve(this.#iterator.return?.()).catch(() => {});
  };

  #settle(): void {
    this.#arriving = undefined;
    this.#wake();
  }

  #over(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}
