import type { Dispatcher } from "undici";
import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { GenerationContext } from "../../core/model/provider.ts";
import { exactJsonBytes } from "../../core/values/json-bytes.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import { basicAuthorization } from "./connections.ts";
import { Deadlines, type Timed } from "./deadlines.ts";
import { networkWords } from "./network-words.ts";
import type { Post, Unsigned } from "./post.ts";
import { ReadBuffer } from "./reads.ts";
import type { HttpHeaders } from "./response-error.ts";

export type ProviderOp = "provider.stream" | "provider.generate" | "provider.count" | "provider.embed";

export interface Opened {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly reads: ReadBuffer;
}

interface Encoded extends Omit<Post, "body"> {
  readonly body: string | readonly Buffer[];
}

interface Way {
  readonly connections: Dispatcher;
  readonly sign?: ((request: Unsigned) => Promise<Readonly<Record<string, string>>>) | undefined;
}

interface Waiting {
  resolve(opened: Opened): void;
  reject(error: Error): void;
}

/** How long the remainder of a response may take, once decoded, before the connection is dropped. */
const drainTime = 1_000;

/**
 * One request and its response under the four timeouts and the caller's signal: whichever fires first closes the socket at
 * once, and `failure` says which.
 */
export class Exchange implements Dispatcher.DispatchHandler, Timed {
  readonly #op: string;
  readonly #context: GenerationContext;
  readonly #deadlines: Deadlines;
  readonly #streaming: boolean;
  /** Set when a timeout or the caller has ended it, even while earlier data is still unread. */
  stopped: VenturiError | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #waiting: Waiting | undefined;
  #reads: ReadBuffer | undefined;
  #drain: NodeJS.Timeout | undefined;

  constructor(op: ProviderOp, context: GenerationContext) {
    this.#op = op;
    this.#context = context;
    this.#streaming = op === "provider.stream";
    this.#deadlines = new Deadlines(op, context.timeouts, this);
    if (context.signal.aborted) this.#onAbort();
    else context.signal.addEventListener("abort", this.#onAbort, { once: true });
    keepOne(this);
  }

  async open({ url, headers, body }: Post, { connections, sign }: Way): Promise<Opened> {
    if (this.stopped !== undefined) throw this.stopped;
    const encoded = exactJsonBytes(body);
    if (typeof encoded === "string" && sign === undefined)
      return this.#dispatch(connections, { url, headers, body: encoded });
    const pieces = typeof encoded === "string" ? [Buffer.from(encoded)] : await encoded;
    const length = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const signed = sign === undefined ? {} : await this.#unlessStopped(sign({ url, body: pieces }));
    const all = { ...headers, ...signed, "content-length": `${length}` };
    return this.#dispatch(connections, { url, headers: all, body: pieces });
  }

  /** Awaits work such as fetching credentials, but not past a timeout or abort. */
  #unlessStopped<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve: () => {}, reject };
      work.then(resolve, reject);
    });
  }

  #dispatch(connections: Dispatcher, post: Encoded): Promise<Opened> {
    if (this.stopped !== undefined) throw this.stopped;
    this.#deadlines.enter("connect");
    const { origin, path, headers } = targetOf(post.url);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      connections.dispatch(
        {
          origin,
          path,
          method: "POST",
          headers: { ...headers, ...post.headers, "accept-encoding": "identity" },
          body: post.body as string, // undici accepts any iterable; its types list only a few.
          headersTimeout: 0, // Our own timeouts apply, also through a proxy.
          bodyTimeout: 0,
        },
        this,
      );
    });
  }

  get quietSince(): number | undefined {
    return this.#reads?.quietSince;
  }

  expired(error: VenturiError): void {
    this.#stop(error);
  }

  /** The first delta of the answer arrived; from now on the idle timeout applies. */
  answered(): void {
    if (this.stopped === undefined) this.#deadlines.enter("idle", true);
  }

  /** The reported error: a timeout, the caller's abort, or whatever was thrown. */
  failure(thrown: unknown): VenturiError {
    if (this.stopped !== undefined) return this.stopped;
    if (VenturiError.isInstance(thrown)) return wrap(this.#op, thrown);
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : undefined;
    const words = networkWords(code, thrown instanceof Error ? thrown.message || (code ?? "") : String(thrown));
    if (isOwnFault(thrown, code)) {
      const message = `the exchange with the provider failed in this process, not at the provider: ${words}`;
      return new VenturiError(this.#op, "internal", message, { cause: thrown });
    }
    const details = {
      ...(code === undefined ? {} : { reason: code }),
      ...(this.#controller === undefined ? { unreachable: true } : {}),
    };
    const context = Object.keys(details).length === 0 ? {} : { details };
    if (this.#reads === undefined) {
      return new VenturiError(this.#op, "unavailable", `the provider could not be reached: ${words}`, context);
    }
    return new VenturiError(this.#op, "stream_error", `the provider's answer was cut short: ${words}`, context);
  }

  /**
   * Releases everything. After the format's end the body may still send its last bytes, so that the connection can be reused.
   */
  close(outcome: "complete" | "abandoned"): void {
    this.#deadlines.stop();
    this.#context.signal.removeEventListener("abort", this.#onAbort);
    const reads = this.#reads;
    if (reads?.ended) return reads.drop();
    if (outcome === "abandoned" || reads === undefined) {
      this.#stop(new VenturiError(this.#op, "stream_interrupted", "the response is no longer needed"));
      return reads?.drop();
    }
    reads.discard();
    this.#drain = setTimeout(() => this.#abort(new Error("the answer did not end")), drainTime);
    this.#drain.unref();
  }

  /** Connected; the request is being sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.stopped !== undefined) return controller.abort(this.stopped);
    // A non-streamed answer arrives late and all at once: its first bytes get the idle timeout of a stream.
    this.#deadlines.enter(this.#streaming ? "firstChunk" : "idle");
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: HttpHeaders): void {
    if (status < 200) return; // Informational; the response follows.
    controller.rawHeaders = null; // These are views of the first read's bytes, which would stay in memory as long as the stream.
    // The first bytes of a stream may be comments; only a delta ends the wait for the first chunk.
    this.#reads = new ReadBuffer(controller, () =>
      this.#streaming ? this.#deadlines.enter("firstToken") : this.answered(),
    );
    this.#waiting?.resolve({ status, headers, reads: this.#reads });
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#reads?.push(chunk);
  }

  onResponseEnd(): void {
    clearTimeout(this.#drain);
    this.#reads?.end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#drain);
    if (this.#reads === undefined) this.#waiting?.reject(error);
    else this.#reads.end(error);
  }

  readonly #onAbort = (): void => {
    const reason: unknown = this.#context.signal.reason;
    this.#stop(
      VenturiError.isInstance(reason)
        ? wrap(this.#op, reason)
        : new VenturiError(this.#op, "stream_interrupted", "the generation was cancelled"),
    );
  };

  #stop(error: VenturiError): void {
    this.stopped ??= error;
    this.#deadlines.stop();
    this.#abort(this.stopped);
  }

  /** Closes the socket. Not connected yet: rejects now, aborts on connect. */
  #abort(reason: Error): void {
    this.#controller?.abort(reason);
    this.#waiting?.reject(reason);
    this.#reads?.end(reason);
  }
}

/** Whether the failure is a programming error, or an argument undici refuses, such as a header with a line break. */
const isOwnFault = (thrown: unknown, code: string | undefined): boolean =>
  thrown instanceof TypeError ||
  thrown instanceof RangeError ||
  thrown instanceof SyntaxError ||
  thrown instanceof ReferenceError ||
  code === "UND_ERR_INVALID_ARG" ||
  code === "UND_ERR_NOT_SUPPORTED";

interface Target {
  readonly url: string;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

let last: Target = { url: "", origin: "", path: "", headers: {} };

/** Cached: a provider uses the same URL repeatedly, and parsing one is slow. */
function targetOf(url: string): Target {
  if (url !== last.url) {
    const { origin, pathname, search, username, password } = new URL(url);
    const headers = username === "" ? {} : { authorization: basicAuthorization(username, password) };
    last = { url, origin, path: pathname + search, headers };
  }
  return last;
}
