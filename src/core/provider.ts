import type { Delta, FinishReason } from "./deltas.ts";
import type { Message, Part } from "./messages.ts";
import type { Native, NativeRequest } from "./native.ts";
import type { Usage } from "./usage.ts";

export interface Capabilities {
  readonly streaming: boolean;
  readonly tools: boolean;
  readonly vision: boolean;
  readonly reasoning: boolean;
  /** Media types of files that it takes, such as `application/pdf` and `audio/*`; none when absent. */
  readonly files?: readonly string[];
}

/** A tool as a model sees it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Vendors' own names for it: offered as one of those, it need not be offered as a function too. */
  readonly aliases?: readonly string[];
  /** The client's own definition. Whole and untranslated, it is a tool that only the vendor knows (`web_search`). */
  readonly native?: Native;
}

export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** How much to think. Each provider takes the nearest that its models know. */
export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof efforts)[number];

/**
 * Settings of a generation. The named ones are translated to each wire; any other key goes into the request body as it is.
 */
export interface GenerationOptions {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly reasoning?: { readonly effort?: Effort; readonly budget?: number };
  readonly [key: string]: unknown;
}

/** Structured output: a JSON Schema the text must fit; without one, any JSON object. */
export interface OutputFormat {
  readonly name: string;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly native?: Native;
}

/** How long a vendor keeps a prompt that will be sent again; `auto` is what costs least for most. */
export type CacheMode = "auto" | "off" | "5m" | "1h";

export interface GenerationRequest {
  /** The provider's own name of the model. */
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice;
  readonly output?: OutputFormat;
  readonly options: GenerationOptions;
  /** Whether and how long the vendor may keep the prompt, and a key that the requests of one conversation share. */
  readonly cache?: { readonly mode: CacheMode; readonly key?: string };
  /** The client's own fields, always in the wire of the provider that is asked; they go over everything else. */
  readonly native?: NativeRequest;
  /** The client's own tool choice, in the same way, for as long as `toolChoice` is asked. */
  readonly nativeChoice?: Native;
}

export interface Timeouts {
  readonly connect: number;
  readonly firstChunk: number;
  readonly idle: number;
  readonly total: number;
}

export type ChunkKind = "text" | "reasoning" | "tool_call" | "usage" | "done" | "error" | "other";

/**
 * Sees every chunk and every accumulation step as it happens, in order. Times are `performance.now()` milliseconds.
 * Called on the hot path: it must not throw, and should not allocate.
 */
export interface StreamObserver {
  chunk(kind: ChunkKind, bytes: number, start: number, end: number): void;
  /** `chunk` is the ordinal of the chunk that carried the fragment; `bytes` the call's arguments so far. */
  accumulated(chunk: number, call: number, bytes: number, sealed: boolean, start: number, end: number): void;
  /** A deviation from the wire format that the decoder tolerated. */
  quirk(name: string): void;
  /** Raw bytes as read from the wire, for `journal.keepWire`. */
  bytes?(read: Uint8Array): void;
}

export interface GenerationContext {
  readonly run: string;
  readonly round: number;
  readonly attempt: number;
  readonly agent: string;
  readonly session?: string;
  readonly signal: AbortSignal;
  readonly timeouts: Timeouts;
  /** Set by whoever measures, before the provider is called; the generation reads it when it accumulates. */
  observer?: StreamObserver;
  /** W3C trace context for the outgoing request, when the run is traced; the rest is the caller's. */
  traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

export interface EmbedRequest {
  readonly model: string;
  /** Texts, or the tokens of texts. */
  readonly input: readonly (string | readonly number[])[];
  readonly dimensions?: number;
  readonly native?: NativeRequest;
}

export interface Embeddings {
  /** In the order of the input. */
  readonly vectors: readonly (readonly number[])[];
  readonly usage: Usage;
}

/** A whole answer, from a provider that does not stream. */
export interface Generation {
  readonly parts: readonly Part[];
  readonly finish: FinishReason;
  readonly raw?: string;
  readonly usage: Usage;
  readonly id?: string;
  readonly model?: string;
}

/**
 * A model behind a wire. `stream` yields everything one network read brought as one array; it reports failures by throwing a
 * VenturiError or by an `error` delta, and ends only after a `done` or an `error`. When `signal` aborts it closes its socket
 * at once and throws.
 */
export interface Provider {
  readonly capabilities: Capabilities;
  /** Base URL of what is asked, for those who measure. */
  readonly endpoint?: string;
  /** The wire that it speaks, as `venturi decode` names it: what a client said in that wire goes on unchanged. */
  readonly wire?: string;
  /** How long its first chunk may take when the config does not say, ms. */
  readonly firstChunk?: number;
  /** What a client asked for that this wire has no place for, in the client's words; the run reports it. */
  ignores?(request: GenerationRequest): readonly string[];
  stream?(request: GenerationRequest, context: GenerationContext): AsyncIterable<readonly Delta[]>;
  generate?(request: GenerationRequest, context: GenerationContext): Promise<Generation>;
  /** The tokens that the request would be, as the vendor counts them. */
  countTokens?(request: GenerationRequest, context: GenerationContext): Promise<number>;
  embed?(request: EmbedRequest, context: GenerationContext): Promise<Embeddings>;
}

/** Everything of a provider but its generations, for those who wrap them. */
export function withoutGenerations(provider: Provider): Omit<Provider, "stream" | "generate"> {
  const { capabilities, endpoint, wire, firstChunk, ignores, embed, countTokens } = provider;
  return {
    capabilities,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(wire === undefined ? {} : { wire }),
    ...(firstChunk === undefined ? {} : { firstChunk }),
    ...(ignores === undefined ? {} : { ignores: ignores.bind(provider) }),
    ...(embed === undefined ? {} : { embed: embed.bind(provider) }),
    ...(countTokens === undefined ? {} : { countTokens: countTokens.bind(provider) }),
  };
}
