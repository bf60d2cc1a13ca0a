import type { ContentGuard, ScanSink } from "../../core/ports/guard.ts";

/** Number of findings per rule. */
export type Findings = ReadonlyMap<string, number>;

export interface Screened<Value> {
  /** The value with findings masked. */
  readonly value: Value;
  readonly found: Findings;
}

export const maskOf = (rule: string): string => `[${rule}]`;

const nothing: Findings = new Map();

/** Masks what the guard finds in a complete text. */
export function screenText(guard: ContentGuard, text: string): Screened<string> {
  const sink = new MaskingSink();
  const scanner = guard.scanner?.(sink);
  if (scanner === undefined) return { value: text, found: nothing };
  scanner.push(text);
  scanner.end();
  return { value: sink.findings === undefined ? text : sink.text, found: sink.findings ?? nothing };
}

class MaskingSink implements ScanSink {
  text = "";
  findings: Map<string, number> | undefined;

  plain(text: string): void {
    this.text += text;
  }

  found(_text: string, rule: string, continues: boolean): void {
    if (continues) return;
    this.text += maskOf(rule);
    this.findings ??= new Map();
    this.findings.set(rule, (this.findings.get(rule) ?? 0) + 1);
  }
}

/** Screens every text in a value, including keys and long numbers. Returns the same value when nothing is found. */
export function screenValue<Value>(guard: ContentGuard, value: Value): Screened<Value> {
  const found = new Map<string, number>();
  const screen = (text: string): string => {
    const screened = screenText(guard, text);
    for (const [rule, count] of screened.found) found.set(rule, (found.get(rule) ?? 0) + count);
    return screened.value;
  };
  const visit = (each: unknown): unknown => {
    if (typeof each === "string") return screen(each);
    if (typeof each === "number") {
      const text = String(each);
      const screened = screen(text);
      return screened === text ? each : screened;
    }
    if (Array.isArray(each)) return each.map(visit);
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [screen(key), visit(inner)]));
  };
  const changed = visit(value) as Value; // Only replaces texts with texts.
  return found.size === 0 ? { value, found } : { value: changed, found };
}

/** For people: `2 email, 1 card`. */
export const toldFindings = (found: Findings): string =>
  [...found].map(([rule, count]) => `${count} ${rule}`).join(", ");
