import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import type { WireName } from "./wire.ts";

/** What the simulator saw of one request; it fills up while the request is served. */
export interface SimulatedRequest {
  /** Epoch ms. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Which connection brought it: requests that share one have the same number. */
  readonly connection: number;
  wire: WireName | undefined;
  model: string | undefined;
  /** The parsed body; undefined when there was none or it was no JSON. */
  body: unknown;
  status: number | undefined;
  /** ms from `at` until the response was handed over whole. */
  endedAfter: number | undefined;
  /** ms from `at` until the client closed the connection on an answer that was not over. */
  closedByClient: number | undefined;
  /** Resolves when the response is over, whoever ended it. */
  readonly done: Promise<void>;
}

/** Keeps what was received, oldest first, and tells whoever waits for it. */
export class RequestLog {
  readonly all: SimulatedRequest[] = [];
  #limit: number;
  #waiting: ((request: SimulatedRequest) => void)[] = [];
  #connections = new WeakMap<object, number>();
  #connection = 0;

  /** A server that runs for days must not keep every body it ever saw. */
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
