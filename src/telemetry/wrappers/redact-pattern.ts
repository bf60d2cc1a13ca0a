import { RE2JS } from "re2js";

/** Replaces all matches of an operator's pattern. */
export type RedactPattern = (text: string, replacement: string) => string;

/** Matched by RE2, in linear time: all of JavaScript's syntax but backreferences and lookaround. Throws for others. */
export function redactPattern(source: string): RedactPattern {
  new RegExp(source, "u"); // for its message, which is about what the operator wrote
  const engine = RE2JS.compile(RE2JS.translateRegExp(source));
  return (text, replacement) => engine.matcher(text).replaceAll(replacement);
}
