import type { Socket } from "node:net";
import type { Charge } from "venturi/plugin";
import type { RawData, WebSocket } from "ws";
import type { Arriving } from "./arriving.ts";

export interface InboxOptions {
  readonly socket: WebSocket;
  readonly transport: Socket;
  /** Bytes pending for the peer before its socket is no longer read. */
  readonly slowReader: number;
  /** Messages per second, which is also the burst size. */
  readonly rate: number;
  readonly arriving: Arriving;
  /** Never rejects. `held`: memory of the message until then. */
  readonly handle: (text: string | undefined, held: Charge) => Promise<void>;
}

interface Message {
  /** Undefined for a binary message. */
  readonly text: string | undefined;
  readonly held: Charge;
}

/** Concurrent commands per socket: one that waits for its run must not block a cancel. */
const mostAtOnce = 16;
const mostPerTurn = 16;

/**
 * Incoming messages under flow control. The socket is paused while too many bytes are pending for the peer, too many of its
 * commands are running, or its rate is used up: TCP backpressure makes the peer wait, and nothing accumulates here.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #queue: Message[] = [];
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
    socket.on("message", (data, isBinary) => this.#arrived(data, isBinary));
    socket.on("ping", (data) => this.#control(data, () => socket.pong(data)));
    socket.on("pong", (data) => this.#control(data));
    transport.on("drain", this.#go);
  }

  close(): void {
    this.#closed = true;
    for (const { held } of this.#queue.splice(0)) held.release();
    this.#options.arriving.close();
    clearTimeout(this.#timer);
    this.#options.transport.removeListener("drain", this.#go);
  }

  #arrived(data: RawData, isBinary: boolean): void {
    if (this.#closed) return;
    const text = isBinary ? undefined : String(data);
    this.#queue.push({ text, held: this.#options.arriving.complete(text?.length ?? 0) });
    this.#go();
  }

  /** Only the last ping needs an answer, so pongs that would pile up are skipped. */
  #control(data: Buffer, answer?: () => void): void {
    this.#count();
    this.#allowance -= 1;
    const { socket, arriving } = this.#options;
    arriving.skip(data.length);
    if (!this.#isFull && socket.readyState === socket.OPEN) answer?.();
    this.#go();
  }

  readonly #go = (): void => {
    this.#refill();
    while (this.#mayHandle) {
      const message = this.#queue.shift();
      if (message === undefined) break;
      this.#count();
      this.#allowance -= 1;
      this.#underWay += 1;
      void this.#options.handle(message.text, message.held).finally(() => {
        message.held.release();
        this.#underWay -= 1;
        this.#go();
      });
    }
    this.#readOrWait();
  };

  /** One read may hold hundreds of messages: yield to the other sockets in between. */
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
    // While closing, the peer's close frame must still be read.
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
