import type { RunEvent } from "../../core/run/events.ts";
import { Redactor } from "../../telemetry/wrappers/redact.ts";

interface Line {
  readonly event?: RunEvent;
  readonly wire?: unknown;
  readonly blob?: unknown;
}

/**
 * An exported run without secrets and personal data, as far as they can be recognised. Recorded bytes and blobs cannot be searched and are
 * left out. Stream deltas are joined first, since a key may be spread over several.
 */
export function redactedExport(text: string, patterns: readonly string[]): string {
  const redactor = new Redactor(patterns);
  const lines = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Line)
    .filter(({ wire, blob }) => wire === undefined && blob === undefined);
  const joined = joinPieces(lines);
  return joined.map((line) => `${JSON.stringify(withFigures(line, redactor.value(line)))}\n`).join("");
}

/** Fields written by people and models, where numbers may be card numbers. */
const content = new Set(["request", "input", "arguments", "object", "answer", "metadata", "body", "native", "details"]);

/** Restores the runtime's own numbers: one timestamp in ten looks like a card number. */
function withFigures(line: unknown, clean: unknown): unknown {
  if (typeof line === "number") return line;
  if (Array.isArray(line) && Array.isArray(clean)) return clean.map((item, index) => withFigures(line[index], item));
  if (typeof line !== "object" || line === null || typeof clean !== "object" || clean === null) return clean;
  const from = line as Readonly<Record<string, unknown>>;
  const entries = Object.entries(clean).map(([key, value]): [string, unknown] =>
    content.has(key) || !Object.hasOwn(from, key) ? [key, value] : [key, withFigures(from[key], value)],
  );
  return Object.fromEntries(entries);
}

/** Moves all text of a stream into its first delta; the others stay, empty, because events are numbered. */
function joinPieces(lines: readonly Line[]): Line[] {
  const streams = new Map<string, string[]>();
  for (const { event } of lines) {
    const stream = streamOf(event);
    if (stream !== undefined) streams.set(stream.key, [...(streams.get(stream.key) ?? []), stream.text]);
  }
  return lines.map((line) => {
    const stream = streamOf(line.event);
    if (stream === undefined) return line;
    const whole = streams.get(stream.key)?.join("") ?? "";
    streams.delete(stream.key);
    return { ...line, event: { ...line.event, [stream.field]: whole } as RunEvent };
  });
}

const fields = ["text", "arguments", "fragment"] as const;

function streamOf(event: RunEvent | undefined): { key: string; field: string; text: string } | undefined {
  if (event === undefined || !(event.type.endsWith(".delta") || event.type === "tool.output")) return undefined;
  const given = event as unknown as Readonly<Record<string, unknown>>; // Fields are read by name.
  for (const field of fields) {
    const text = given[field];
    if (typeof text === "string")
      return { key: [event.type, given.round, given.call, given.attempt].join(" "), field, text };
  }
  return undefined;
}
