import type { Socket } from "node:net";

/** How often it looks within the limit. */
const looks = 4;

/**
 * Detects a stalled reader: none of the pending data was sent for `limit` ms. Node's socket timeout also counts received data,
 * so a peer that keeps sending but never reads would go unnoticed. Counts its own looks instead of the time on the clock: what a
 * peer took while this process stood still is noticed only after the timer that is late.
 */
export class StallWatch {
  readonly #socket: Socket;
  readonly #stalled: () => void;
  readonly #timer: NodeJS.Timeout;
  #left = "";
  #unchanged = 0;

  constructor(socket: Socket, limit: number, stalled: () => void) {
    this.#socket = socket;
    this.#stalled = stalled;
    this.#timer = setInterval(() => this.#look(), Math.max(1, limit / looks));
    this.#timer.unref();
    // An idle peer is not stalled. Also clears a timeout set by an earlier request on this connection.
    socket.setTimeout(0);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const left = waitingIn(this.#socket);
    if (left === undefined || left !== this.#left) {
      this.#left = left ?? "";
      this.#unchanged = 0;
      return;
    }
    this.#unchanged += 1;
    if (this.#unchanged < looks) return;
    this.stop();
    this.#stalled();
  }
}

/** Fingerprint of the data pending for the peer in Node and libuv; undefined when nothing is pending. */
function waitingIn(socket: Socket): string | undefined {
  if (socket.writableLength === 0) return undefined;
  // Only libuv's queue shows progress within a large write; not in Node's types.
  const handle = (socket as { _handle?: { writeQueueSize?: number } })._handle;
  return `${socket.bytesWritten - socket.writableLength} ${handle?.writeQueueSize ?? 0}`;
}
