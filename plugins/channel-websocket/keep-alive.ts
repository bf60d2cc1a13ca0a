import type { Socket } from "node:net";
import type { WebSocket } from "ws";

/**
 * Pings the peer. One that sends nothing after two pings is gone, whatever TCP says. One with pending bytes is judged by those instead, and
 * one that is not read, since its messages have to wait, cannot be heard.
 */
export class KeepAlive {
  readonly #socket: WebSocket;
  readonly #transport: Socket;
  readonly #timer: NodeJS.Timeout;
  #unanswered = 0;
  /** Bytes read from the peer at the last look. */
  #heard = 0;

  constructor(socket: WebSocket, transport: Socket, every: number) {
    this.#socket = socket;
    this.#transport = transport;
    this.#timer = setInterval(() => this.#look(), every);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    if (this.#socket.bufferedAmount > 0 || this.#socket.isPaused) return;
    const { bytesRead } = this.#transport;
    if (bytesRead !== this.#heard) this.#unanswered = 0;
    this.#heard = bytesRead;
    if (this.#unanswered === 2) {
      // If this process stood still, pongs are waiting; they are read before the immediate runs.
      setImmediate(() => this.#transport.bytesRead === bytesRead && this.#socket.terminate());
      return;
    }
    this.#unanswered += 1;
    this.#socket.ping();
  }
}
