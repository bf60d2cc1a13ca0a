import type { JsonRecord } from "../json.ts";
import { expressionIn } from "./arithmetic.ts";
import { small, stem, wordsOf } from "./words.ts";
import { zoneIn } from "./zones.ts";

/** Source of arguments. `numbers` are consumed in order. */
export interface Source {
  readonly text: string;
  /** Topics in the tool's own name, which are the command rather than its object. */
  readonly commands: ReadonlySet<string>;
  readonly numbers: number[];
}

/** How to find a string property: by its unmistakable format, or from what is left. */
export interface Finder {
  find(source: Source): string | undefined;
  otherwise(source: Source): string;
}

export function finderFor(name: string, schema: JsonRecord): Finder {
  const words = wordsOf(name);
  const format = typeof schema.format === "string" ? schema.format : "";
  for (const [names, finder] of finders) {
    if (words.some((word) => names.has(word)) || names.has(format)) return finder;
  }
  return { find: () => undefined, otherwise: subject };
}

const names = (words: string): ReadonlySet<string> => new Set(words.split(" "));

const byPattern = (pattern: RegExp, otherwise: (source: Source) => string = subject): Finder => ({
  find: ({ text }) => pattern.exec(text)?.[0],
  otherwise,
});

const finders: readonly (readonly [ReadonlySet<string>, Finder])[] = [
  [names("url uri link href"), byPattern(/https?:\/\/[^\s"'<>]+[^\s"'<>.,;!?)]/, () => "https://example.com/")],
  [names("email mail recipient"), byPattern(/[\w.+-]+@[\w-]+\.[\w.-]*\w/, () => "someone@example.com")],
  [names("expression formula equation calculation"), { find: ({ text }) => expressionIn(text), otherwise: subject }],
  [names("zone timezone tz"), { find: ({ text }) => zoneIn(text), otherwise: () => "UTC" }],
  [names("path file filename folder directory"), { find: pathIn, otherwise: () => "." }],
  [names("date day"), byPattern(/\b\d{4}-\d{2}-\d{2}\b/, () => "2026-01-01")],
  [names("city location place country town region where address"), { find: placeIn, otherwise: subject }],
  [names("id order ticket sku code number reference key account customer"), { find: idIn, otherwise: subject }],
];

const quoted = /"([^"]+)"|“([^”]+)”|`([^`]+)`|(?<!\w)'([^']+)'/;

function pathIn({ text }: Source): string | undefined {
  const inside = quotedIn(text);
  if (inside !== undefined) return inside;
  return /(?:\.{0,2}\/)?(?:[\w.-]+\/)+[\w.-]*\w|\b[\w-]+\.[a-z][a-z0-9]{0,5}\b/i.exec(text)?.[0];
}

/** An id contains a digit: A-17, #1234, ORD_99. */
function idIn({ text }: Source): string | undefined {
  return /#?\b(?=[\w-]*\d)[\w-]+/.exec(text)?.[0].replace(/^#/, "");
}

function placeIn({ text }: Source): string | undefined {
  const match = /\b(?:in|at|for|of|near|to|from)\s+((?:\p{Lu}[\p{L}'’-]*)(?:[ -]\p{Lu}[\p{L}'’-]*)*)/u.exec(text);
  return match?.[1];
}

/** The sentence's subject, failing anything more exact: its quotation, or what follows the command. */
function subject({ text, commands }: Source): string {
  const inside = quotedIn(text);
  if (inside !== undefined) return inside;
  const about = /\b(?:for|about|on|of|named|called|that says)\s+(?:the |a |an |my |our )?(.+?)[\s.?!]*$/i.exec(
    text,
  )?.[1];
  if (about !== undefined) return about;
  const words = text.match(/[^\s?!.,;:"]+/g) ?? [];
  const kept = words.filter((word) => {
    const plain = wordsOf(word).join("");
    return !small.has(plain) && !commands.has(stem(plain));
  });
  return kept.join(" ") || text.trim();
}

function quotedIn(text: string): string | undefined {
  return quoted
    .exec(text)
    ?.slice(1)
    .find((group) => group !== undefined);
}
