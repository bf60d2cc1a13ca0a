import { VenturiError } from "../../core/errors/errors.ts";

import type { Frame } from "../../core/ports/plugin.ts";
import { vendorNumber } from "../../core/values/vendor-number.ts";

/** Accessors for untrusted JSON: whatever it holds, they return the requested type and never throw. */

const none: Readonly<Record<string, unknown>> = Object.freeze({});

/** The object, or an empty one. */
export const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : none; // Missing keys read as undefined.

/** The array, or an empty one. */
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The string, if not empty. */
export const asText = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** The number, if it is a valid count. */
export const asCount = vendorNumber;

/** The position that an index names, also written as text; undefined when it names none. */
export function asIndex(value: unknown): number | undefined {
  const index = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof index === "number" && Number.isSafeInteger(index) && index >= 0 ? index : undefined;
}

/** The value of a JSON text; undefined when it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Splits a frame whose server omitted the blank lines between events into one JSON text per line. Empty if it is not such a frame. */
export function separated(frame: Frame): Frame[] {
  const lines = frame.data.split("\n").filter((line) => line.trim() !== "");
  const first = lines[0];
  if (lines.length < 2 || first === undefined || parseJson(first) === undefined) return [];
  return lines.map((data) => ({ data, event: "" }));
}

/** Throws for an answer without the expected count. */
export function notCounted(): never {
  throw new VenturiError("provider.count", "stream_error", "the provider's answer has no number of tokens");
}
