import type { ChunkKind, Delta, FinishReason } from "./deltas.ts";
import type { Message, Part } from "./messages.ts";
import type { Native, NativeRequest } from "./native.ts";
import type { NativeRules } from "./native-rules.ts";
import type { Usage } from "./usage.ts";

export interface Capabilities {
  readonly streaming: boolean;
  readonly tools: boolean;
  readonly vision: boolean;
  readonly reasoning: boolean;
  /** Media types of accepted files, such as `application/pdf` and `audio/*`; none when absent. */
  readonly files?: readonly string[];
}

/** A tool as a model sees it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Vendor names for this tool: if offered as one of those, it is not offered as a function as well. */
  readonly aliases?: readonly string[];
  /**
   * The client's definition. If it replaces the element and is untranslated, the tool is known to the vendor only
   * (`web_search`).
   */
  readonly native?: Native;
}

export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** Reasoning effort. Each provider picks the nearest level its models support. */
export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof efforts)[number];

/** Settings of a generation. The named ones are translated to each wire; other keys go into the request body unchanged. */
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

/** How long a vendor caches a prompt that will be sent again; `auto` is the cheapest choice for most uses. */
export type CacheMode = "auto" | "off" | "5m" | "1h";

export interface GenerationRequest {
  /** The provider's name for the model. */
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice;
  readonly output?: OutputFormat;
  readonly options: GenerationOptions;
  /** Whether and how long the vendor may cache the prompt, and a key shared by the requests of a conversation. */
  readonly cache?: { readonly mode: CacheMode; readonly key?: string };
  /** The client's native fields that are permitted, always in this provider's wire. */
  readonly native?: NativeRequest;
  /** The client's native tool choice, used while `toolChoice` applies. */
  readonly nativeChoice?: Native;
}

export interface Timeouts {
  readonly connect: number;
  readonly firstChunk: number;
  /** Timeout for the first delta, if comments may come before it; default `firstChunk`. */
  readonly firstToken?: number;
  readonly idle: number;
  readonly total: number;
}

/**
 * Observes every chunk and accumulation step, in order. Times are `performance.now()` milliseconds. On the hot path: must not
 * throw, should not allocate.
 */
export interface StreamObserver {
  chunk(kind: ChunkKind, bytes: number, start: number, end: number): void;
  /** `chunk` is the ordinal of the chunk with the fragment; `bytes` the call's arguments so far. */
  accumulated(chunk: number, call: number, bytes: number, sealed: boolean, start: number, end: number): void;
  /** A tolerated deviation from the wire format. */
  quirk(name: string): void;
  /** Raw bytes as read from the wire, for `journal.keepWire`; valid until this returns. */
  bytes?(read: Uint8Array): void;
}

export interface GenerationContext {
  readonly run: string;
  readonly round: number;
  readonly attempt: number;
  readonly agent: string;
  readonly session?: string;
  readonly tenant?: string;
  readonly signal: AbortSignal;
  readonly timeouts: Timeouts;
  /** Set by telemetry before the provider is called; read when deltas are accumulated. */
  observer?: StreamObserver;
  /** Set by a cache that replayed an earlier answer: nothing was requested or charged. */
  cached?: true;
  /** W3C trace context of the outgoing request, when the run is traced; `tracestate` and baggage are the caller's. */
  traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

export interface EmbedRequest {
  readonly model: string;
  /** Texts, or token ids. */
  readonly input: readonly (string | readonly number[])[];
  readonly dimensions?: number;
  readonly native?: NativeRequest;
}

export interface Embeddings {
  /** In input order. */
  readonly vectors: readonly (readonly number[])[];
  readonly usage: Usage;
}

/** A complete answer, from a provider that does not stream. */
export interface Generation {
  readonly parts: readonly Part[];
  readonly finish: FinishReason;
  readonly raw?: string;
  readonly usage: Usage;
  readonly id?: string;
  readonly model?: string;
}

/**
 * A model behind a wire. `stream` yields one array per network read; it reports failures by throwing a VenturiError or by an
 * `error` delta, and ends only after `done` or `error`. When `signal` aborts it closes its socket at once and throws.
 */
export interface Provider {
  readonly capabilities: Capabilities;
  /** Base URL, for telemetry. */
  readonly endpoint?: string;
  /** The wire it speaks, as `venturi decode` names it: native fields of clients on that wire may pass unchanged. */
  readonly wire?: string;
  /** Which of those fields callers may set; none when absent. */
  readonly nativeRules?: NativeRules;
  /** Default first-chunk timeout, ms, when the config sets none. */
  readonly firstChunk?: number;
  /** Fields of the client's request that this wire cannot express, in the client's terms; the run reports them. */
  ignores?(request: GenerationRequest): readonly string[];
  stream?(request: GenerationRequest, context: GenerationContext): AsyncIterable<readonly Delta[]>;
  generate?(request: GenerationRequest, context: GenerationContext): Promise<Generation>;
  /** Token count of the request, as the vendor counts. */
  countTokens?(request: GenerationRequest, context: GenerationContext): Promise<number>;
  embed?(request: EmbedRequest, context: GenerationContext): Promise<Embeddings>;
}

/** A provider without its generation methods, for wrappers that replace those. */
export function withoutGenerations(provider: Provider): Omit<Provider, "stream" | "generate"> {
  const { capabilities, endpoint, wire, nativeRules, firstChunk, ignores, embed, countTokens } = provider;
  return {
    capabilities,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(wire === undefined ? {} : { wire }),
    ...(nativeRules === undefined ? {} : { nativeRules }),
    ...(firstChunk === undefined ? {} : { firstChunk }),
    ...(ignores === undefined ? {} : { ignores: ignores.bind(provider) }),
    ...(embed === undefined ? {} : { embed: embed.bind(provider) }),
    ...(countTokens === undefined ? {} : { countTokens: countTokens.bind(provider) }),
  };
}
