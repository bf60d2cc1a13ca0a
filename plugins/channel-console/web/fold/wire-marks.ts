export interface WireMark {
  readonly from: number;
  readonly to: number;
  /** The delta's value does not occur literally: the whole frame produced it. */
  readonly whole: boolean;
}

/** The place in a frame's text that a delta came from: where its value occurs, JSON-escaped. */
export function bytesOfDelta(text: string, delta: unknown): WireMark {
  for (const value of valuesOf(delta)) {
    for (const written of [JSON.stringify(value).slice(1, -1), value, escaped(value)]) {
      const from = written === "" ? -1 : text.indexOf(written);
      if (from >= 0) return { from, to: from + written.length, whole: false };
    }
  }
  return { from: 0, to: text.length, whole: true };
}

/** Longest first: a call's name is more specific than its index. */
function valuesOf(delta: unknown): string[] {
  if (typeof delta !== "object" || delta === null) return [];
  const { type: _, ...fields } = delta as Record<string, unknown>;
  return Object.values(fields)
    .filter((value) => typeof value === "string")
    .sort((left, right) => right.length - left.length);
}

/** For servers that escape everything beyond ASCII. */
const escaped = (value: string): string =>
  JSON.stringify(value)
    .slice(1, -1)
    .replaceAll(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
