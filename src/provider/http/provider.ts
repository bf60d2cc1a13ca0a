import type { Dispatcher } from "undici";
import { messageOf, VenturiError, wrap } from "../../core/errors/errors.ts";
import type { Delta } from "../../core/model/deltas.ts";
import type { NativeRules } from "../../core/model/native-rules.ts";
import type {
  Capabilities,
  Embeddings,
  EmbedRequest,
  Generation,
  GenerationContext,
  GenerationRequest,
  Provider,
} from "../../core/model/provider.ts";
import type { Instance, Wire } from "../../core/ports/plugin.ts";
import { headerSecrets } from "../../core/values/redact.ts";
import { traceHeadersIn } from "../../core/values/trace-context.ts";
import { Pipeline } from "../decode.ts";
import { deltasOf } from "../deltas-of.ts";
import { defaultMaxEvent } from "../frames/framing.ts";
import { isReplaced, notUtf8 } from "../frames/not-utf8.ts";
import { openConnections } from "./connections.ts";
import { type Answer, type DeltaSource, DeltaStream } from "./delta-stream.ts";
import { Exchange, type Opened, type ProviderOp } from "./exchange.ts";
import type { HttpOptions } from "./options.ts";
import type { Post, Unsigned } from "./post.ts";
import type { ReadBuffer } from "./reads.ts";
import { type HttpFailure, httpFailure } from "./response-error.ts";
import { Secrets } from "./secrets.ts";
import { explained } from "./strange-answer.ts";
import { isJson, isPage, jsonOrText, noStream, pageSize, parsed, parsedOf, readSome, readWhole } from "./whole-body.ts";

export interface HttpProvider {
  /** The vendor's name, for messages. */
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly wire: Wire;
  /** The wire's name in `wires`; the vendor's name when absent. */
  readonly wireName?: string;
  /** Which native fields callers of the same wire may set; none when absent. */
  readonly nativeRules?: NativeRules;
  readonly options: HttpOptions;
  /** Default first-chunk timeout, ms, when the config sets none. */
  readonly firstChunk?: number;
  /** The HTTP request of a generation; the configured `headers` and the trace headers are added to it. */
  request(request: GenerationRequest, mode: "stream" | "whole"): Post;
  /** Headers that depend on the request's bytes, such as a signature. Their values are redacted from errors. */
  sign?(request: Unsigned): Promise<Readonly<Record<string, string>>>;
  /** Decodes a complete JSON answer; `text` is the answer as it was received. Throws a VenturiError when it reports an error. */
  collect(json: unknown, text: string): Generation;
  /** Fields a client may set that this wire cannot express. */
  ignores?(request: GenerationRequest): readonly string[];
  /** The vendor's token counting endpoint. */
  readonly counting?: TokenCounting;
  /** The vendor's embeddings endpoint. */
  readonly embedding?: Embedding;
  /** Maps a failed status where this vendor deviates from HTTP. */
  failure?(failure: HttpFailure): VenturiError | undefined;
}

export interface TokenCounting {
  request(request: GenerationRequest): Post;
  /** Extracts the count; throws a VenturiError when there is none. */
  read(json: unknown): number;
}

export interface Embedding {
  request(request: EmbedRequest): Post;
  read(json: unknown): Embeddings;
}

interface Asking<T> {
  readonly post: Post;
  readonly context: GenerationContext;
  readonly read: (json: unknown, text: string, body: Buffer) => T;
}

/** Maximum bytes read of an error body. */
const errorBody = 64 * 1024;

/** A provider over HTTP: the single path from request through bytes and frames to deltas. */
export function httpProvider(provider: HttpProvider): Instance<Provider> {
  const client = new Client(provider);
  const close = () => client.closeAll();
  const generate = (request: GenerationRequest, context: GenerationContext) => client.generate(request, context);
  const { capabilities, ignores, nativeRules } = provider;
  const about = {
    endpoint: provider.options.baseUrl,
    wire: provider.wireName ?? provider.name,
    ...(nativeRules === undefined ? {} : { nativeRules }),
    ...(provider.firstChunk === undefined ? {} : { firstChunk: provider.firstChunk }),
    ...(ignores === undefined ? {} : { ignores: ignores.bind(provider) }),
    ...countingOf(client, provider),
    ...embeddingOf(client, provider),
  };
  if (provider.options.stream === false) {
    return { ...about, capabilities: { ...capabilities, streaming: false }, generate, close };
  }
  const stream = (request: GenerationRequest, context: GenerationContext) => client.stream(request, context);
  return { ...about, capabilities, stream, generate, close };
}

function countingOf(client: Client, { counting }: HttpProvider): Pick<Provider, "countTokens"> {
  if (counting === undefined) return {};
  const { request: post, read } = counting;
  const op = "provider.count";
  return {
    countTokens: async (request, context) => client.ask(op, { post: built(op, () => post(request)), context, read }),
  };
}

function embeddingOf(client: Client, { embedding }: HttpProvider): Pick<Provider, "embed"> {
  if (embedding === undefined) return {};
  const { request: post, read } = embedding;
  const op = "provider.embed";
  return {
    embed: async (request, context) => client.ask(op, { post: built(op, () => post(request)), context, read }),
  };
}

class Client implements DeltaSource {
  readonly #provider: HttpProvider;
  readonly #secrets: Secrets;
  /** By connect timeout, which undici sets per connection, not per request. */
  readonly #connections = new Map<number, Promise<Dispatcher>>();
  /** A connection that just became free can be reused only in the next turn of the event loop. */
  #turn: Promise<void> | undefined;

  constructor(provider: HttpProvider) {
    const { apiKey, headers } = provider.options;
    this.#provider = provider;
    this.#secrets = new Secrets([apiKey, ...Object.values(headerSecrets(headers ?? {}))]);
  }

  stream(request: GenerationRequest, context: GenerationContext): DeltaStream {
    return new DeltaStream(this, request, context);
  }

  async generate(request: GenerationRequest, context: GenerationContext): Promise<Generation> {
    const op = "provider.generate";
    const post = built(op, () => this.#provider.request(request, "whole"));
    return this.ask(op, { post, context, read: (json, text, body) => this.#collect(json, text, body) });
  }

  /** One request, one complete answer. */
  async ask<T>(op: Exclude<ProviderOp, "provider.stream">, { post, context, read }: Asking<T>): Promise<T> {
    const exchange = new Exchange(op, context);
    let outcome: "complete" | "abandoned" = "abandoned";
    try {
      const opened = await this.#send(exchange, post, context);
      if (opened.status >= 300) throw await this.#refused(op, opened);
      const body = await readWhole(opened.reads, this.#provider.options.maxEvent ?? defaultMaxEvent);
      outcome = "complete";
      const text = body.toString();
      return read(parsedOf(opened, text), text, body);
    } catch (thrown) {
      throw this.failure(exchange, thrown);
    } finally {
      this.close(exchange, outcome);
    }
  }

  closeAll(): void {
    for (const connections of this.#connections.values()) connections.then((open) => open.destroy()).catch(() => {}); // Failures to open are reported to the request.
    this.#connections.clear();
  }

  failure(exchange: Exchange, thrown: unknown): VenturiError {
    return this.#secrets.scrubError(exchange.failure(thrown));
  }

  /** Called on the first read of a stream. */
  async open(exchange: Exchange, request: GenerationRequest, context: GenerationContext): Promise<Answer> {
    const op = "provider.stream";
    const post = built(op, () => this.#provider.request(request, "stream"));
    const opened = await this.#send(exchange, post, context);
    if (opened.status >= 300) throw await this.#refused(op, opened);
    const { wire, options } = this.#provider;
    const pipeline = new Pipeline(op, wire, {
      ...(options.maxEvent !== undefined && { maxEvent: options.maxEvent }),
      observer: context.observer,
    });
    const explain = (error: VenturiError, head: Uint8Array) => explained(error, opened, head);
    if (isPage(opened)) throw explain(noStream, await readSome(opened.reads, pageSize));
    if (wire.framing !== "sse" || !isJson(opened)) return { reads: opened.reads, pipeline, explain };
    exchange.answered();
    return { whole: await this.#wholeInstead(opened.reads, pipeline) };
  }

  async #send(exchange: Exchange, post: Post, context: GenerationContext): Promise<Opened> {
    const { options } = this.#provider;
    const headers = {
      "content-type": "application/json",
      "user-agent": "venturi",
      ...lowerCased(post.headers),
      ...lowerCased(options.headers ?? {}),
      ...traceHeadersIn(context),
    };
    const connections = await this.#connectionsFor(context.timeouts.connect);
    if (this.#turn !== undefined) await this.#turn;
    const sign = this.#provider.sign === undefined ? undefined : (request: Unsigned) => this.#sign(request);
    return exchange.open({ url: post.url, headers, body: post.body }, { connections, sign });
  }

  async #sign(request: Unsigned): Promise<Readonly<Record<string, string>>> {
    const headers = (await this.#provider.sign?.(request)) ?? {};
    for (const value of Object.values(headers)) this.#secrets.learn(value);
    return headers;
  }

  #connectionsFor(connectTimeout: number): Promise<Dispatcher> {
    let connections = this.#connections.get(connectTimeout);
    if (connections === undefined) {
      connections = openConnections({ connectTimeout, proxy: this.#provider.options.proxy });
      this.#connections.set(connectTimeout, connections);
    }
    return connections;
  }

  close(exchange: Exchange, outcome: "complete" | "abandoned"): void {
    exchange.close(outcome);
    this.#turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#turn = undefined;
        resolve();
      });
    });
  }

  /** The status counts even when the explaining body is cut short. */
  async #refused(op: string, opened: Opened): Promise<VenturiError> {
    const body = jsonOrText(await readSome(opened.reads, errorBody).catch(() => Buffer.alloc(0)));
    const failure = { status: opened.status, headers: opened.headers, body };
    const own = this.#provider.failure?.(failure);
    return own === undefined ? httpFailure(op, failure) : wrap(op, own);
  }

  /** Some gateways answer a streaming request with a complete JSON body, and some label a stream as JSON. */
  async #wholeInstead(reads: ReadBuffer, pipeline: Pipeline): Promise<Delta[]> {
    const body = await readWhole(reads, this.#provider.options.maxEvent ?? defaultMaxEvent);
    const text = body.toString();
    if (text.trimStart().startsWith("{")) return deltasOf(this.#collect(parsed(text), text, body));
    const deltas: Delta[] = [];
    pipeline.push(body, deltas);
    pipeline.end(deltas);
    this.inspect(deltas);
    return deltas;
  }

  #collect(json: unknown, text: string, body: Buffer): Generation {
    const generation = this.#provider.collect(json, text);
    if (isReplaced(text, body) && generation.parts.some(({ type }) => type === "tool_call")) throw notUtf8();
    return generation;
  }

  /** Whether the stream ended successfully; also redacts secrets in an error sent within the stream. */
  inspect(deltas: Delta[]): boolean {
    const at = deltas.findIndex((delta) => delta.type === "error");
    const failed = deltas[at];
    if (failed?.type !== "error") return true;
    deltas[at] = { type: "error", error: this.#secrets.scrubError(failed.error) };
    return false;
  }
}

/** Errors while building a request are our fault or the caller's: the provider was not asked. */
function built(op: ProviderOp, build: () => Post): Post {
  try {
    return build();
  } catch (thrown) {
    if (VenturiError.isInstance(thrown)) throw wrap(op, thrown);
    const message = `the request to the provider could not be built: ${messageOf(thrown)}`;
    throw new VenturiError(op, "internal", message, { cause: thrown });
  }
}

/** Header names are case-insensitive, but two spellings of one would both be sent. */
const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
