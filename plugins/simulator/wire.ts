import type { Prompt } from "./prompt.ts";
import type { Failure, Turn, TurnUsage } from "./turn.ts";

/** One frame of a wire: an SSE event or an NDJSON line, line ends included. */
export interface WireFrame {
  readonly text: string;
  /** Carries content, so it waits for its time when there is a pace. */
  readonly paced: boolean;
}

/** What the path says: the wire is known, and on some wires the model and whether to stream. */
export interface Route {
  readonly model?: string;
  readonly streaming?: boolean;
  /** Gemini without `alt=sse`: one JSON array, piece by piece. */
  readonly array?: boolean;
}

/** Deviations that are in the words themselves; those of their delivery are no concern of a wire. */
export interface Shape {
  readonly duplicateIndex: boolean;
  readonly missingId: boolean;
  readonly lateUsage: boolean;
  readonly missingEnd: boolean;
}

export interface Answer {
  readonly route: Route;
  readonly prompt: Prompt;
  readonly turn: Turn;
  readonly usage: TurnUsage | undefined;
  /** Made from the seed and the request, so the same request gets the same bytes. */
  readonly id: string;
  readonly shape: Shape;
}

/** A wire format from the server's side. Pure: no I/O, no clock. */
export interface Wire {
  readonly name: WireName;
  contentType(route: Route): string;
  route(path: string, query: URLSearchParams): Route | undefined;
  read(body: unknown, route: Route): Prompt;
  frames(answer: Answer): WireFrame[];
  whole(answer: Answer): unknown;
  /** Body of an HTTP error. */
  failure(failure: Failure): unknown;
  /** A frame that reports a failure after 200. */
  broken(failure: Failure, route: Route): string;
  /** A frame of a kind that no client knows. */
  readonly unknown: string;
  /** A frame whose payload is no JSON. */
  readonly malformed: string;
}

export const wireNames = ["openai", "openai-responses", "anthropic", "gemini", "ollama"] as const;
export type WireName = (typeof wireNames)[number];

export const eventStream = () => "text/event-stream; charset=utf-8";

/** A fixed point in time: the same request gives the same bytes, whenever it is sent. */
export const created = 1_767_225_600;
