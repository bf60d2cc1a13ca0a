import { write, writeSync } from "node:fs";

/** Maximum bytes buffered while the reader is stuck; later lines are dropped. */
const mostWaiting = 1024 * 1024;
/** Processes share stderr, and a pipe keeps only writes up to this length (PIPE_BUF) in one piece. */
const longestWrite = 4096;
/** Retry interval for a full non-blocking pipe, ms, and the number of tries when the process exits. */
const again = 20;
const lastTries = 50;
/** How long a write in progress gets when the process exits, ms; Node cancels one that no thread has begun. */
const lastWrite = 100;

/**
 * Writes lines without ever blocking: while a write is in progress, further lines are collected. Lines that cannot be written, as on a full
 * disk, are dropped and counted.
 */
export class LineWriter {
  readonly #file: number;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #writing = false;
  #dropped = 0;

  constructor(file: number) {
    this.#file = file;
  }

  add(text: string): void {
    const line = Buffer.from(text);
    if (this.#bytes + line.length > mostWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(line);
    this.#bytes += line.length;
    if (!this.#writing) this.#next();
  }

  /** Number of lines dropped since the last call; 0 while there is no room to report it. */
  takeDropped(): number {
    if (this.#dropped === 0 || this.#bytes > mostWaiting / 2) return 0;
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  /** Writes buffered lines before the process exits. */
  flush(): void {
    if (this.#writing) block(lastWrite);
    let tries = 0;
    let left = Buffer.concat(this.#waiting);
    this.#waiting = [];
    while (left.length > 0 && tries < lastTries) {
      try {
        left = left.subarray(writeSync(this.#file, left));
      } catch (thrown) {
        if (!isFull(thrown)) return;
        tries += 1;
        block(again);
      }
    }
  }

  #next(): void {
    let [count, bytes] = [0, 0];
    for (const { length } of this.#waiting) {
      if (count > 0 && bytes + length > longestWrite) break;
      count += 1;
      bytes += length;
    }
    this.#writing = count > 0;
    if (count > 0) this.#write(Buffer.concat(this.#waiting.splice(0, count)), count);
  }

  #write(some: Buffer, lines: number): void {
    write(this.#file, some, (error, written) => {
      if (error !== null && isFull(error)) {
        this.#waiting.unshift(some);
        setTimeout(() => this.#next(), again).unref();
        return;
      }
      if (error === null && written < some.length) {
        this.#bytes -= written;
        this.#write(some.subarray(written), lines);
        return;
      }
      if (error !== null) this.#dropped += lines;
      this.#bytes -= some.length;
      this.#next();
    });
  }
}

/** Blocks the thread; the event loop no longer runs at exit. */
const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const isFull = (thrown: unknown): boolean => thrown instanceof Error && "code" in thrown && thrown.code === "EAGAIN";

let toStderr: LineWriter | undefined;

/** One per process, because it is flushed at exit. */
export function stderrWriter(): LineWriter {
  if (toStderr !== undefined) return toStderr;
  const writer = new LineWriter(2);
  process.once("exit", () => writer.flush());
  toStderr = writer;
  return writer;
}
