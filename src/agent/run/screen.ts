import type { ContentGuard, ScanSink } from "../../core/ports/guard.ts";

/** How many findings there are of each rule. */
export type Findings = ReadonlyMap<string, number>;

export interface Screened<Value> {
  /** With masks in place of what was found. */
  readonly value: Value;
  readonly found: Findings;
}

export const maskOf = (rule: string): string => `[${rule}]`;

const nothing: Findings = new Map();

/** A whole text, with masks in place of what the guard finds. */
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

/** Every text in a value, names of fields and long numbers included. The value itself when nothing is found. */
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
  const changed = visit(value) as Value; // texts for texts
  return found.size === 0 ? { value, found } : { value: changed, found };
}

/** `2 email, 1 card`, for a person. */
export const toldFindings = (found: Findings): string =>
  [...found].map(([rule, count]) => `${count} ${rule}`).join(", ");
