import type { Server } from "node:net";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";

/** Either end of an IPC channel: `process`, or a child process. */
export interface Channel {
  send?(message: object, handle?: SharedHandle, options?: undefined, callback?: (error: Error | null) => void): boolean;
  on(event: "message", listener: (message: unknown, handle?: unknown) => void): unknown;
}

/** A listening socket, sent over IPC: the receiver gets its own descriptor. */
export type SharedHandle = Server;

/** Named calls with at most one JSON argument. */
type Calls<T> = { readonly [K in keyof T]: (body: never) => unknown };

interface Call {
  readonly call: string;
  readonly id: number;
  readonly body?: unknown;
}

interface Answer {
  readonly answer: number;
  readonly value?: unknown;
  readonly failure?: string;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: VenturiError) => void;
  readonly timer: NodeJS.Timeout;
}

const op = "process.ask";

type Handler = (body: never, handle?: unknown) => unknown;

/** Calls over an IPC channel, in both directions. Each has one answer, or a timeout. */
export class Link<Theirs extends Calls<Theirs>> {
  readonly #channel: Channel;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  constructor(channel: Channel, handlers: Readonly<Record<string, Handler>>) {
    this.#channel = channel;
    channel.on("message", (message, handle) => {
      if (isCall(message)) this.#serve(message, handlers[message.call], handle);
      else if (isAnswer(message)) this.#answered(message);
    });
  }

  ask<K extends keyof Theirs & string>(
    call: K,
    body: Parameters<Theirs[K]>[0] | undefined,
    patience = 1_500,
    handle?: SharedHandle,
  ): Promise<Awaited<ReturnType<Theirs[K]>>> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const fail = (reason: string) => {
        this.#waiting.delete(id);
        clearTimeout(timer);
        reject(new VenturiError(op, "unavailable", `"${call}" was not answered: ${reason}`));
      };
      const timer = setTimeout(() => fail(`no answer within ${patience} ms`), patience);
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject, timer }); // Typed by `Theirs`.
      this.#send({ call, id, body }, (error) => fail(error.message), handle);
    });
  }

  /** Calls without waiting for an answer. */
  tell<K extends keyof Theirs & string>(call: K, body: Parameters<Theirs[K]>[0] | undefined): void {
    this.#send({ call, id: 0, body });
  }

  /** The other side has disconnected. */
  close(reason: string): void {
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new VenturiError(op, "unavailable", reason));
    }
    this.#waiting.clear();
  }

  async #serve({ id, body }: Call, handler: Handler | undefined, handle: unknown) {
    try {
      if (handler === undefined) throw new Error("the other process is of another version");
      const value = await handler(body as never, handle); // Typed by the sender's `Theirs`.
      if (id !== 0) this.#send({ answer: id, value });
    } catch (thrown) {
      this.#send({ answer: id, failure: messageOf(thrown) });
    }
  }

  #answered({ answer, value, failure }: Answer): void {
    const waiting = this.#waiting.get(answer);
    if (waiting === undefined) return;
    this.#waiting.delete(answer);
    clearTimeout(waiting.timer);
    if (failure === undefined) waiting.resolve(value);
    else waiting.reject(new VenturiError(op, "unavailable", failure));
  }

  #send(message: Call | Answer, failed: (error: Error) => void = () => {}, handle?: SharedHandle): void {
    try {
      this.#channel.send?.(message, handle, undefined, (error) => {
        if (error) failed(error);
      });
    } catch (thrown) {
      failed(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }
}

const isCall = (message: unknown): message is Call =>
  typeof message === "object" && message !== null && "call" in message && "id" in message;

const isAnswer = (message: unknown): message is Answer =>
  typeof message === "object" && message !== null && "answer" in message;
