import { once } from "node:events";
import WebSocket from "ws";

export type Received = Record<string, unknown> & { type: string; run: string };

export interface Heard {
  readonly at: number;
  readonly message?: Received;
  readonly frame?: Buffer;
}

/** A listener: keeps messages and frames in the order in which they came, each with its time. */
export class Listener {
  readonly heard: Heard[] = [];
  readonly #socket: WebSocket;
  #wake = () => {};

  private constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.on("message", (data: Buffer, isBinary) => {
      const at = performance.timeOrigin + performance.now();
      this.heard.push(isBinary ? { at, frame: data } : { at, message: JSON.parse(String(data)) });
      this.#wake();
    });
  }

  static async connect(url: string): Promise<Listener> {
    const listener = new Listener(url);
    await once(listener.#socket, "open");
    return listener;
  }

  get messages(): Received[] {
    return this.heard.flatMap(({ message }) => message ?? []);
  }

  get frames(): Buffer[] {
    return this.heard.flatMap(({ frame }) => frame ?? []);
  }

  ofType(type: string): Received[] {
    return this.messages.filter((message) => message.type === type);
  }

  send(message: unknown): void {
    this.#socket.send(JSON.stringify(message));
  }

  async until(isIt: (heard: Heard) => boolean): Promise<Heard> {
    for (;;) {
      const found = this.heard.find(isIt);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  message(type: string): Promise<Heard> {
    return this.until(({ message }) => message?.type === type);
  }

  close(): void {
    this.#socket.terminate();
  }
}
