import { RE2JS } from "re2js";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";

/** A regular expression that matches in linear time, since patterns are untrusted. */
export interface Pattern {
  test(text: string): boolean;
  /** Maximum cost of testing one character, in states. */
  readonly states: number;
}

const longest = 4_096;
const mostStates = 10_000;
const mostKept = 500;
const kept = new Map<string, Pattern>();

/**
 * Translates a pattern to RE2: all of JavaScript's syntax except backreferences and lookaround. Leading lookaheads, as in
 * `^(?=.*\d)(?!.*\.\.)`, become separate patterns with the same meaning.
 */
export function patternOf(source: string): Pattern {
  const known = kept.get(source);
  if (known !== undefined) return known;
  if (source.length > longest) throw unsupported(source, `it is longer than ${longest} characters`);
  const pattern = compile(source);
  if (pattern.states > mostStates) throw unsupported(source, "it is too large: shorten its repetitions");
  const [oldest] = kept.keys();
  if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest);
  kept.set(source, pattern);
  return pattern;
}

function compile(source: string): Pattern {
  const { ahead, rest } = takeApart(source);
  const main = engineOf(source, rest);
  if (ahead.length === 0) return { test: (text) => main.test(text), states: main.programSize() };
  const tests = ahead.map(({ body, wanted }) => ({ engine: engineOf(source, `^(?:${body})`), wanted }));
  return {
    test: (text) => tests.every(({ engine, wanted }) => engine.test(text) === wanted) && main.test(text),
    states: tests.reduce((sum, { engine }) => sum + engine.programSize(), main.programSize()),
  };
}

function engineOf(source: string, expression: string): RE2JS {
  // The translation below would read `\k` as a literal k.
  if (/(?:^|[^\\])(?:\\\\)*\\k</.test(expression)) throw unsupported(source, "backreferences are not supported");
  try {
    return RE2JS.compile(RE2JS.translateRegExp(withPlainProperties(expression)));
  } catch (thrown) {
    const what = messageOf(thrown).replace(/^error parsing regexp: /, "");
    throw unsupported(source, `${what}; backreferences and looking around are not supported`);
  }
}

/** RE2 names a script or category without the `Script=` or `General_Category=` prefix. */
const withPlainProperties = (source: string): string =>
  source.replace(
    /\\([pP])\{(?:(?:Script|sc|Script_Extensions|scx|General_Category|gc)=)?(\w+)\}/g,
    (_, letter: string, name: string) => `\\${letter}{${categories[name] ?? name}}`,
  );

const categories: Readonly<Record<string, string>> = {
  Letter: "L",
  Uppercase_Letter: "Lu",
  Lowercase_Letter: "Ll",
  Mark: "M",
  Number: "N",
  Decimal_Number: "Nd",
  Punctuation: "P",
  Symbol: "S",
  Separator: "Z",
  Other: "C",
};

interface Ahead {
  readonly body: string;
  readonly wanted: boolean;
}

function takeApart(source: string): { ahead: Ahead[]; rest: string } {
  const ahead: Ahead[] = [];
  if (!/^\^\(\?[=!]/.test(source)) return { ahead, rest: source };
  let at = 1;
  while (source.startsWith("(?=", at) || source.startsWith("(?!", at)) {
    const end = endOfGroup(source, at);
    if (end < 0) return { ahead: [], rest: source };
    ahead.push({ body: source.slice(at + 3, end), wanted: source[at + 2] === "=" });
    at = end + 1;
    // A quantified assertion has a different meaning.
    if (/[*+?{]/.test(source[at] ?? "")) return { ahead: [], rest: source };
  }
  const rest = source.slice(at);
  return hasAlternatives(rest) ? { ahead: [], rest: source } : { ahead, rest: `^(?:${rest})` };
}

/** End of the group that opens here, or -1. */
function endOfGroup(source: string, start: number): number {
  let end = -1;
  scan(source.slice(start), (unit, at, depth) => {
    if (unit === ")" && depth === 0) end = start + at;
    return end < 0;
  });
  return end;
}

function hasAlternatives(source: string): boolean {
  let found = false;
  scan(source, (unit, _at, depth) => {
    if (unit === "|" && depth === 0) found = true;
    return !found;
  });
  return found;
}

/** Visits every unit that is neither escaped nor in a character class; `depth` counts the enclosing groups. Stops at false. */
function scan(source: string, visit: (unit: string, at: number, depth: number) => boolean): void {
  let depth = 0;
  let inClass = false;
  for (let at = 0; at < source.length; at++) {
    const unit = source[at] ?? "";
    if (unit === "\\") {
      at++;
      continue;
    }
    if (inClass) {
      if (unit === "]") inClass = false;
      continue;
    }
    if (unit === "[") inClass = true;
    if (unit === ")") depth--;
    if (!visit(unit, at, depth)) return;
    if (unit === "(") depth++;
  }
}

const unsupported = (source: string, why: string): VenturiError =>
  new VenturiError("schema.read", "invalid_input", `the pattern ${JSON.stringify(cut(source))} cannot be used: ${why}`);

const cut = (source: string): string => (source.length > 80 ? `${source.slice(0, 80)}…` : source);
