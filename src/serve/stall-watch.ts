import type { Socket } from "node:net";

/**
 * Notices a reader that has stopped taking: nothing left for it for `limit` ms while something waited. Node's own timer
 * counts what the peer sends as well, so a peer that goes on sending and never reads would never be noticed.
 */
export class StallWatch {
  readonly #socket: Socket;
  readonly #limit: number;
  readonly #stalled: () => void;
  readonly #timer: NodeJS.Timeout;
  #left = "";
  #since = performance.now();

  constructor(socket: Socket, limit: number, stalled: () => void) {
    this.#socket = socket;
    this.#limit = limit;
    this.#stalled = stalled;
    this.#timer = setInterval(() => this.#look(), Math.max(1, limit / 4));
    this.#timer.unref();
    // The peer's silence is no stall, whatever an earlier request on the connection has set.
    socket.setTimeout(0);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const left = waitingIn(this.#socket);
    if (left === undefined || left !== this.#left) {
      this.#left = left ?? "";
      this.#since = performance.now();
      return;
    }
    if (performance.now() - this.#since < this.#limit) return;
    this.stop();
    this.#stalled();
  }
}

/** What waits for the peer, as far as both Node and libuv tell; undefined when nothing does. */
function waitingIn(socket: Socket): string | undefined {
  if (socket.writableLength === 0) return undefined;
  // Part of a large write that the kernel has taken shows only here; not in Node's types.
  const handle = (socket as { _handle?: { writeQueueSize?: number } })._handle;
  return `${socket.bytesWritten - socket.writableLength} ${handle?.writeQueueSize ?? 0}`;
}
