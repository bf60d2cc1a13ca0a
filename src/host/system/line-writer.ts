import { write, writeSync } from "node:fs";

/** Bytes that wait for a reader that has stopped; later lines are dropped. */
const mostWaiting = 1024 * 1024;
/** Processes share stderr, and only writes up to this length (PIPE_BUF) stay in one piece in a pipe. */
const longestWrite = 4096;
/** Until a full pipe that does not block is tried again, ms, and how often at the end of the process. */
const again = 20;
const lastTries = 50;
/** At the end of the process Node cancels a write that no thread has begun, so it gets this long, ms. */
const lastWrite = 100;

/**
 * Writes lines and never waits: while one write is under way, the next lines are collected. What cannot be written, as on a full
 * disk, is dropped and counted.
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

  /** The number of lines dropped since the last call; 0 while there is no room to say so. */
  takeDropped(): number {
    if (this.#dropped === 0 || this.#bytes > mostWaiting / 2) return 0;
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  /** Writes what waits before the process exits. */
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

/** Without the event loop, which no longer runs. */
const block = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const isFull = (thrown: unknown): boolean => thrown instanceof Error && "code" in thrown && thrown.code === "EAGAIN";

let toStderr: LineWriter | undefined;

/** One for the process, because it is flushed at its exit. */
export function stderrWriter(): LineWriter {
  if (toStderr !== undefined) return toStderr;
  const writer = new LineWriter(2);
  process.once("exit", () => writer.flush());
  toStderr = writer;
  return writer;
}
