import type { Why } from "../state/api-types.ts";

type WhyPart = Why["parts"][number];

/** Splits a paragraph into sentences. A dot within a number or name does not end one. */
export function sentencesOf(paragraph: string): string[] {
  const sentences: string[] = [];
  let from = 0;
  for (let at = paragraph.indexOf(". "); at >= 0; at = paragraph.indexOf(". ", at + 1)) {
    const next = paragraph[at + 2] ?? "";
    if (next === next.toLowerCase() && next !== next.toUpperCase()) continue;
    sentences.push(paragraph.slice(from, at + 1));
    from = at + 2;
  }
  return from < paragraph.length ? [...sentences, paragraph.slice(from)] : sentences;
}

const words: Readonly<Record<string, readonly string[]>> = {
  queue: ["queue", "in line"],
  providerWait: ["first token", "wait", "model"],
  providerStream: ["stream", "wrote", "tokens"],
  providerStall: ["stall", "silent"],
  failedAttempt: ["fail", "attempt"],
  backoff: ["back", "retr", "again"],
  tool: ["tool", "call"],
  approval: ["approv", "person", "answer"],
  hook: ["hook"],
  client: ["reader", "client"],
  journal: ["journal", "commit"],
  blocked: ["blocked", "event loop"],
  gc: ["garbage"],
  down: ["worker", "process"],
  paused: ["paused"],
  runtime: ["venturi"],
};

/** The time part a sentence is about: by its name, else by its words; the longest match wins. */
export function partOfSentence(sentence: string, parts: readonly WhyPart[]): WhyPart | undefined {
  const text = sentence.toLowerCase();
  const longest = (found: readonly WhyPart[]) => [...found].sort((one, other) => other.ms - one.ms)[0];
  return (
    longest(parts.filter(({ name }) => name !== "" && sentence.includes(name))) ??
    longest(parts.filter(({ part }) => (words[part] ?? []).some((word) => text.includes(word))))
  );
}
