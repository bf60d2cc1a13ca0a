import type { Socket } from "node:net";
import type { WebSocket } from "ws";

export interface InboxOptions {
  readonly socket: WebSocket;
  readonly transport: Socket;
  /** Bytes that may wait for the peer before nothing more is read from it. */
  readonly slowReader: number;
  /** Messages a second; as many may come at once. */
  readonly rate: number;
  /** Never rejects. */
  readonly handle: (text: string | undefined) => Promise<void>;
}

/** Commands of one socket at the same time: one that waits for its run must not keep a cancel from being heard. */
const mostAtOnce = 16;
const mostPerTurn = 16;

/**
 * What a peer sends, as fast as it may send. While more waits for it than it may leave lying, while enough of its commands
 * are under way, or while it has used up its messages, its socket is not read: TCP makes it wait, and nothing piles up here.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #queue: (string | undefined)[] = [];
  #underWay = 0;
  #handled = 0;
  #allowance: number;
  #refilled = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: InboxOptions) {
    const { socket, transport } = options;
    this.#options = options;
    this.#allowance = options.rate;
    socket.on("message", (data, isBinary) => this.#arrived(isBinary ? undefined : String(data)));
    socket.on("ping", (data) => this.#pong(data));
    transport.on("drain", this.#go);
  }

  close(): void {
    this.#closed = true;
    this.#queue.length = 0;
    clearTimeout(this.#timer);
    this.#options.transport.removeListener("drain", this.#go);
  }

  #arrived(text: string | undefined): void {
    if (this.#closed) return;
    this.#queue.push(text);
    this.#go();
  }

  /** Answers are owed to the last ping only, so those that would pile up are left out. */
  #pong(data: Buffer): void {
    this.#count();
    this.#allowance -= 1;
    const { socket } = this.#options;
    if (!this.#isFull && socket.readyState === socket.OPEN) socket.pong(data);
    this.#go();
  }

  readonly #go = (): void => {
    this.#refill();
    while (this.#queue.length > 0 && this.#mayHandle) {
      this.#count();
      this.#allowance -= 1;
      this.#underWay += 1;
      void this.#options.handle(this.#queue.shift()).finally(() => {
        this.#underWay -= 1;
        this.#go();
      });
    }
    this.#readOrWait();
  };

  /** Messages come by the hundred in one read: the other sockets get their turn in between. */
  #count(): void {
    if (this.#handled++ > 0) return;
    setImmediate(() => {
      this.#handled = 0;
      this.#go();
    });
  }

  get #mayHandle(): boolean {
    const inTurn = this.#underWay < mostAtOnce && this.#handled < mostPerTurn;
    return !this.#closed && inTurn && this.#allowance >= 1 && !this.#isFull;
  }

  get #isFull(): boolean {
    return this.#options.socket.bufferedAmount >= this.#options.slowReader;
  }

  #readOrWait(): void {
    const { socket, rate } = this.#options;
    if (this.#closed) return;
    const free = this.#mayHandle && this.#queue.length === 0;
    // While it closes, the peer's own close has to be read.
    if (free || socket.readyState !== socket.OPEN) {
      if (socket.isPaused) socket.resume();
      return;
    }
    if (!socket.isPaused) socket.pause();
    if (this.#allowance >= 1 || this.#timer !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#go();
      },
      Math.ceil(((1 - this.#allowance) / rate) * 1_000),
    );
  }

  #refill(): void {
    const now = performance.now();
    const earned = ((now - this.#refilled) / 1_000) * this.#options.rate;
    this.#refilled = now;
    this.#allowance = Math.min(this.#options.rate, this.#allowance + earned);
  }
}
