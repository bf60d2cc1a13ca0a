import type { Readable } from "node:stream";

/**
 * Pulls from a Node stream with one promise per wait, not one per chunk: `take` gives everything that has arrived, in one
 * piece, and only when nothing has is there something to await. What is not taken waits in the stream, which pauses the
 * socket when it is full.
 */
export class Reads {
  readonly #body: Readable;
  readonly #arrived: () => void;
  /** What has been read and not been taken. While there is something, the rest waits in the stream. */
  #held: Buffer | undefined;
  #more = false;
  #ended = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  /** `arrived` is called whenever something has come. */
  constructor(body: Readable, arrived: () => void) {
    this.#body = body;
    this.#arrived = arrived;
    body.on("readable", this.#onReadable);
    body.once("end", () => this.#settle(undefined));
    body.on("error", (error) => this.#settle(error));
    body.once("close", () => {
      if (!this.#ended) this.#settle(new Error("the connection was closed before the response was complete"));
    });
  }

  /** Somebody waits for bytes: only then is silence the server's. */
  get waiting(): boolean {
    return this.#wake !== undefined;
  }

  get ended(): boolean {
    return this.#ended && this.#held === undefined;
  }

  /** All that has arrived, or undefined. Throws what broke the stream, after everything that came before it was taken. */
  take(): Buffer | undefined {
    const read = this.#held;
    if (read === undefined && this.#error !== undefined) throw this.#error;
    this.#held = undefined;
    if (this.#more) this.#read();
    return read;
  }

  /** Resolves when there is something to take, or the end. */
  arrival(): Promise<void> {
    if (this.#ended || this.#held !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** What is left of the body is not wanted, but the connection is: reads on and throws it away. */
  discard(): void {
    this.#held = undefined;
    this.#body.off("readable", this.#onReadable);
    this.#body.resume();
  }

  readonly #onReadable = (): void => {
    if (this.#held === undefined) return this.#read();
    this.#more = true;
    this.#arrived();
  };

  /** All chunks of one read of the socket come as one; a stream that has nothing left tells its end only when it is read. */
  #read(): void {
    this.#more = false;
    const read: Buffer | null = this.#body.read();
    if (read === null) return;
    this.#held = read;
    this.#arrived();
    this.#wakeUp();
  }

  #settle(error: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    if (error !== undefined && this.#body.readableLength > 0) this.#keep(this.#body.read());
    this.#wakeUp();
  }

  #keep(rest: Buffer | null): void {
    if (rest !== null) this.#held = this.#held === undefined ? rest : Buffer.concat([this.#held, rest]);
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
