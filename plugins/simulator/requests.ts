import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import type { WireName } from "./wire.ts";

/** One received request; filled in while it is served. */
export interface SimulatedRequest {
  /** Epoch ms. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Number of its connection; requests on one connection share it. */
  readonly connection: number;
  wire: WireName | undefined;
  model: string | undefined;
  /** The parsed body; undefined when missing or not JSON. */
  body: unknown;
  status: number | undefined;
  /** ms from `at` until the response was complete. */
  endedAfter: number | undefined;
  /** ms from `at` until the client closed the connection early. */
  closedByClient: number | undefined;
  /** Resolves when the response has ended, whichever side ended it. */
  readonly done: Promise<void>;
}

/** Keeps received requests, oldest first, and notifies waiters. */
export class RequestLog {
  readonly all: SimulatedRequest[] = [];
  #limit: number;
  #waiting: ((request: SimulatedRequest) => void)[] = [];
  #connections = new WeakMap<object, number>();
  #connection = 0;

  /** Bounded: a server that runs for days must not keep every body. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  next(): Promise<SimulatedRequest> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  open(request: IncomingMessage, response: ServerResponse, serverEnded: () => boolean): SimulatedRequest {
    const start = performance.now();
    const done = new Promise<void>((resolve) => {
      response.once("close", () => {
        const elapsed = performance.now() - start;
        if (response.writableFinished) entry.endedAfter = elapsed;
        else if (!serverEnded()) entry.closedByClient = elapsed;
        resolve();
      });
    });
    const entry: SimulatedRequest = {
      at: Date.now(),
      method: request.method ?? "GET",
      path: request.url ?? "/",
      headers: request.headers,
      connection: this.#number(request.socket),
      wire: undefined,
      model: undefined,
      body: undefined,
      status: undefined,
      endedAfter: undefined,
      closedByClient: undefined,
      done,
    };
    this.all.push(entry);
    if (this.all.length > this.#limit) this.all.shift();
    for (const tell of this.#waiting.splice(0)) tell(entry);
    return entry;
  }

  #number(socket: object): number {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    this.#connection += 1;
    this.#connections.set(socket, this.#connection);
    return this.#connection;
  }
}
