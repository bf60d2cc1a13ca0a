/** What the bytes come from: it can be told to wait. */
export interface Source {
  pause(): void;
  resume(): void;
}

/** Bytes that may wait to be taken before the source is paused. */
const enough = 64 * 1024;

/**
 * What has arrived and not been taken: `take` gives everything in one piece, and only when nothing has come is there
 * something to await, so that there is one promise per wait, not one per chunk. Past 64 KiB the source has to wait.
 */
export class ReadBuffer {
  readonly #source: Source;
  readonly #arrived: () => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #paused = false;
  #discarding = false;
  #ended = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  /** `arrived` is called whenever something has come where there was nothing. */
  constructor(source: Source, arrived: () => void) {
    this.#source = source;
    this.#arrived = arrived;
  }

  /** Somebody waits for bytes: only then is silence the server's. */
  get waiting(): boolean {
    return this.#wake !== undefined;
  }

  /** The end has come and everything before it was taken. */
  get ended(): boolean {
    return this.#ended && this.#bytes === 0;
  }

  /** Nothing more will come, whether or not what came was taken. */
  get settled(): boolean {
    return this.#ended;
  }

  /** All that has arrived, or undefined. Throws what broke the stream, after everything that came before it was taken. */
  take(): Buffer | undefined {
    const pieces = this.#pieces;
    const first = pieces[0];
    if (first === undefined) {
      if (this.#error !== undefined) throw this.#error;
      return undefined;
    }
    const read = pieces.length === 1 ? first : Buffer.concat(pieces, this.#bytes);
    this.#pieces = [];
    this.#bytes = 0;
    if (this.#paused) {
      this.#paused = false;
      this.#source.resume();
    }
    return read;
  }

  /** Resolves when there is something to take, or the end. */
  arrival(): Promise<void> {
    if (this.#ended || this.#bytes > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** What is left of the body is not wanted, but the connection is: lets it come and throws it away. */
  discard(): void {
    this.#discarding = true;
    this.#pieces = [];
    this.#bytes = 0;
    if (this.#paused) this.#source.resume();
  }

  push(piece: Buffer): void {
    if (this.#discarding || piece.length === 0) return;
    const first = this.#bytes === 0;
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= enough && !this.#paused) {
      this.#paused = true;
      this.#source.pause();
    }
    if (!first) return;
    this.#arrived();
    this.#wakeUp();
  }

  end(error?: Error): void {
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
