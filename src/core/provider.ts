import type { Delta, FinishReason } from "./deltas.ts";
import type { Message, Part } from "./messages.ts";
import type { Usage } from "./usage.ts";

export interface Capabilities {
  readonly streaming: boolean;
  readonly tools: boolean;
  readonly vision: boolean;
  readonly reasoning: boolean;
}

/** A tool as a model sees it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/**
 * Settings of a generation. The named ones are translated to each wire; any other key goes into the request body as it is.
 */
export interface GenerationOptions {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly reasoning?: { readonly effort?: "minimal" | "low" | "medium" | "high"; readonly budget?: number };
  readonly [key: string]: unknown;
}

export interface GenerationRequest {
  /** The provider's own name of the model. */
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice;
  /** Structured output: a JSON Schema the text must fit. */
  readonly output?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> };
  readonly options: GenerationOptions;
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
  /** W3C trace context for the outgoing request, when the run is traced. */
  traceparent?: string;
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
  stream?(request: GenerationRequest, context: GenerationContext): AsyncIterable<readonly Delta[]>;
  generate?(request: GenerationRequest, context: GenerationContext): Promise<Generation>;
}
export const Provider = Symbol("Provider");
