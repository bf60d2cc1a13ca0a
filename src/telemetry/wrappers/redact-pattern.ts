import { RE2JS } from "re2js";

/** Replaces all matches of an operator's pattern. */
export type RedactPattern = (text: string, replacement: string) => string;

/** Matches with RE2 in linear time: all of JavaScript's syntax except backreferences and lookaround, for which it throws. */
export function redactPattern(source: string): RedactPattern {
  new RegExp(source, "u"); // Compiled first for its error message, which refers to the operator's own text.
  const engine = RE2JS.compile(RE2JS.translateRegExp(source));
  return (text, replacement) => engine.matcher(text).replaceAll(replacement);
}
