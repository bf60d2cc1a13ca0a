import { VenturiError } from "../core/errors.ts";

import type { Frame } from "../core/plugin.ts";

/** Reading JSON that a server wrote: whatever it holds, these answer with the type asked for and never throw. */

const none: Readonly<Record<string, unknown>> = Object.freeze({});

/** The object itself; an empty one for anything that is no object. */
export const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : none; // an object can be read by any key

/** The array itself; an empty one for anything that is no array. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The string if it is one and not empty. */
export const word = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** The number if it is a count. */
export const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

/** The value of a JSON text; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The events in a frame that holds several, since the server forgot the blank lines between them: one JSON text a line.
 * Empty when it is not that.
 */
export function separated(frame: Frame): Frame[] {
  const lines = frame.data.split("\n").filter((line) => line.trim() !== "");
  const first = lines[0];
  if (lines.length < 2 || first === undefined || parseJson(first) === undefined) return [];
  return lines.map((data) => ({ data, event: "" }));
}

/** For an answer that should have had a count. */
export function notCounted(): never {
  throw new VenturiError("provider.count", "stream_error", "the provider's answer has no number of tokens");
}
