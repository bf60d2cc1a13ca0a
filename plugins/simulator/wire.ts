import type { Prompt } from "./prompt.ts";
import type { Failure, Turn, TurnUsage } from "./turn.ts";

/** One frame of a wire: an SSE event or an NDJSON line, line ends included. */
export interface WireFrame {
  readonly text: string;
  /** Carries content, so it is subject to pacing. */
  readonly paced: boolean;
}

/** What the path determines: the wire, and on some wires the model and whether to stream. */
export interface Route {
  readonly model?: string;
  readonly streaming?: boolean;
  /** Gemini without `alt=sse`: one JSON array, streamed. */
  readonly array?: boolean;
}

/** Deviations in the content; a wire is not concerned with those in delivery. */
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
  /** Derived from the seed and the request, so that the same request gets the same bytes. */
  readonly id: string;
  readonly shape: Shape;
}

/** The server side of a wire format. Pure: no I/O, no clock. */
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
  /** A frame of an unknown type. */
  readonly unknown: string;
  /** A frame whose payload is not JSON. */
  readonly malformed: string;
}

export const wireNames = ["openai", "openai-responses", "anthropic", "gemini", "ollama"] as const;
export type WireName = (typeof wireNames)[number];

export const eventStream = () => "text/event-stream; charset=utf-8";

/** A fixed time: the same request gives the same bytes, whenever it is sent. */
export const created = 1_767_225_600;
