import type { Readable } from "node:stream";

/** Bytes that may wait here before the socket is told to stop. */
const highWater = 256 * 1024;

/**
 * Pulls from a Node stream with one promise per wait, not one per chunk: `take` gives everything that has arrived, and only
 * when nothing has is there something to await. A consumer that is slow pauses the socket.
 */
export class Reads {
  readonly #body: Readable;
  readonly #arrived: () => void;
  #queue: Buffer[] = [];
  #bytes = 0;
  #ended = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  /** `arrived` is called for every read, as it happens. */
  constructor(body: Readable, arrived: () => void) {
    this.#body = body;
    this.#arrived = arrived;
    body.on("data", this.#onData);
    body.once("end", () => this.#settle(undefined));
    body.on("error", (error) => this.#settle(error));
    body.once("close", () => this.#settle(new Error("the connection was closed before the response was complete")));
  }

  /** Somebody waits for bytes: only then is silence the server's. */
  get waiting(): boolean {
    return this.#wake !== undefined;
  }

  get ended(): boolean {
    return this.#ended && this.#queue.length === 0;
  }

  /** All that has arrived, or undefined. Throws what broke the stream, after everything that came before it was taken. */
  take(): Buffer[] | undefined {
    if (this.#queue.length === 0) {
      if (this.#error !== undefined) throw this.#error;
      return undefined;
    }
    const reads = this.#queue;
    this.#queue = [];
    this.#bytes = 0;
    if (this.#body.isPaused()) this.#body.resume();
    return reads;
  }

  /** Resolves when there is something to take, or the end. */
  arrival(): Promise<void> {
    if (this.#queue.length > 0 || this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** What is left of the body is not wanted, but the connection is: reads on and throws it away. */
  discard(): void {
    this.#queue = [];
    this.#body.off("data", this.#onData);
    this.#body.resume();
  }

  readonly #onData = (read: Buffer): void => {
    this.#queue.push(read);
    this.#bytes += read.length;
    if (this.#bytes > highWater) this.#body.pause();
    this.#arrived();
    this.#wakeUp();
  };

  #settle(error: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wakeUp();
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
