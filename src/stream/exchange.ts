import type { ClientRequest, IncomingMessage } from "node:http";
import type { Agent } from "node:https";
import type { TLSSocket } from "node:tls";
import { VenturiError, wrap } from "../core/errors.ts";
import type { GenerationContext } from "../core/provider.ts";
import { Deadlines } from "./deadlines.ts";
import { httpClient } from "./http-client.ts";
import type { HttpHeaders } from "./http-failure.ts";
import { Reads } from "./reads.ts";

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface Opened {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly reads: Reads;
}

/** How long the rest of a body that is complete for us may take before its connection is given up. */
const drainTime = 1_000;

/**
 * One request and its response under the four time limits and the caller's signal: whichever comes first closes the socket
 * at once, and `failure` says which it was.
 */
export class Exchange {
  readonly #op: string;
  readonly #context: GenerationContext;
  readonly #deadlines: Deadlines;
  readonly #streaming: boolean;
  #stopped: VenturiError | undefined;
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;
  #reads: Reads | undefined;

  constructor(op: "provider.stream" | "provider.generate", context: GenerationContext) {
    this.#op = op;
    this.#context = context;
    this.#streaming = op === "provider.stream";
    this.#deadlines = new Deadlines(op, context.timeouts, (error) => this.#stop(error));
    if (context.signal.aborted) this.#onAbort();
    else context.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  async open(post: Post, agent: Agent, proxy: string | undefined): Promise<Opened> {
    const send = await httpClient();
    this.check();
    this.#deadlines.enter("connect");
    const response = await send({
      url: post.url,
      headers: { ...post.headers, "accept-encoding": "identity" },
      body: Buffer.from(JSON.stringify(post.body)),
      agent,
      proxy: proxy === undefined ? false : proxyOf(proxy),
      made: this.#onMade,
    });
    this.#response = response.data;
    const reads = new Reads(response.data, this.#onRead);
    this.#reads = reads;
    return { status: response.status, headers: response.headers as HttpHeaders, reads }; // strings and lists of strings
  }

  /** Throws when a limit or the caller has ended it, also while what came before still waits to be taken. */
  check(): void {
    if (this.#stopped !== undefined) throw this.#stopped;
  }

  /** What went wrong, seen from outside: a limit, the caller's abort, or else what was thrown. */
  failure(thrown: unknown): VenturiError {
    if (this.#stopped !== undefined) return this.#stopped;
    if (thrown instanceof VenturiError) return wrap(this.#op, thrown);
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : undefined;
    const details = code === undefined ? {} : { details: { reason: code } };
    // The HTTP client's error holds the request with its headers, so only its words are kept.
    const words = thrown instanceof Error ? thrown.message : String(thrown);
    if (this.#response === undefined) {
      return new VenturiError(this.#op, "unavailable", `the provider could not be reached: ${words}`, details);
    }
    return new VenturiError(this.#op, "stream_error", `the provider's answer was cut short: ${words}`, details);
  }

  /** Frees everything. A body that is complete for us may still send its last bytes, so that the connection is used again. */
  close(outcome: "complete" | "abandoned"): void {
    this.#deadlines.stop();
    this.#context.signal.removeEventListener("abort", this.#onAbort);
    const response = this.#response;
    if (outcome === "abandoned" || response === undefined) {
      this.#request?.destroy();
      response?.destroy();
      return;
    }
    if (response.readableEnded) return;
    this.#reads?.discard();
    if (response.complete) return;
    const timer = setTimeout(() => response.destroy(), drainTime);
    timer.unref();
    response.once("close", () => clearTimeout(timer));
  }

  readonly #onMade = (request: ClientRequest): void => {
    this.#request = request;
    request.once("socket", () => this.#connecting(request));
  };

  #connecting(request: ClientRequest): void {
    const socket = request.socket as TLSSocket | null; // a plain socket lacks only what is tested for below
    const connected = () => this.#connected();
    if (request.reusedSocket || socket === null) return connected();
    if (socket.encrypted) {
      if (socket.getProtocol() !== null && !socket.connecting) return connected();
      socket.once("secureConnect", connected);
    } else if (socket.connecting) {
      socket.once("connect", connected);
    } else {
      connected();
    }
  }

  #connected(): void {
    // A whole answer comes at once and late: its first bytes may take as long as a stream may be silent.
    this.#deadlines.enter(this.#streaming ? "firstChunk" : "idle");
  }

  #first = true;
  readonly #onRead = (): void => {
    if (!this.#first) return this.#deadlines.touch();
    this.#first = false;
    this.#deadlines.enter("idle", () => this.#reads?.waiting ?? true);
  };

  readonly #onAbort = (): void => {
    const reason: unknown = this.#context.signal.reason;
    this.#stop(
      reason instanceof VenturiError
        ? wrap(this.#op, reason)
        : new VenturiError(this.#op, "stream_interrupted", "the generation was cancelled"),
    );
  };

  #stop(error: VenturiError): void {
    this.#stopped ??= error;
    this.#deadlines.stop();
    this.#request?.destroy();
    this.#response?.destroy();
  }
}

function proxyOf(url: string) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const auth =
    username === "" ? {} : { auth: { username: decodeURIComponent(username), password: decodeURIComponent(password) } };
  return { protocol, host: hostname, port: Number(port || (protocol === "https:" ? 443 : 80)), ...auth };
}
