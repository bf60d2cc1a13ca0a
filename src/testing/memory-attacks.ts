import type { MemoryPlace } from "../core/ports/memory-owners.ts";

/** Queries that are more than words: search engine and SQL syntax, and malformed text. */
export function* attacks({ tenant, owner }: MemoryPlace): Generator<string> {
  const words = ["tea", "secret", "shared", "words", "東京", "größe"];
  const syntax = [
    (word: string) => `"${word}"`,
    (word: string) => `"${word}`,
    (word: string) => `${word}*`,
    (word: string) => `^${word}`,
    (word: string) => `terms:${word}`,
    (word: string) => `terms : ${word} OR ${word}`,
    (word: string) => `{terms text place} : ${word}`,
    (word: string) => `- {terms} : ${word}`,
    (word: string) => `NEAR(${word} secret, 100)`,
    (word: string) => `${word} NEAR/5 secret`,
    (word: string) => `NOT ${word}`,
    (word: string) => `${word} NOT zzz`,
    (word: string) => `x OR ${word} OR secret`,
    (word: string) => `${word} AND secret`,
    (word: string) => `(${word}) OR (secret)`,
    (word: string) => `${word}:*`,
    (word: string) => `${word}:A & !zzz | secret`,
    (word: string) => `'${word}' | 'secret'`,
    (word: string) => `${word} <-> secret`,
    (word: string) => `${word} <2> secret`,
    (word: string) => `' OR '1'='1' -- ${word}`,
    (word: string) => `'; DELETE FROM notes; -- ${word}`,
    (word: string) => `\\' OR ${word} \\\\ \\`,
    (word: string) => `$1 ?1 :tenant @owner #{x} ${word}`,
    (word: string) => `%${word}% _${word}_ [a-z]`,
    (word: string) => `${word}\0secret`,
    (word: string) => `${word}\u202esecret\u200b\ufeff`,
    (word: string) => `\ud800${word}\udfff`,
    (word: string) => [...word].map((letter) => `${letter}\u0301`).join(""),
    (word: string) => word.replaceAll("e", "ｅ").toUpperCase(),
    (word: string) => `${word}\r\n\t\u2028secret`,
  ];
  for (const word of words) for (const write of syntax) yield write(word);
  for (let number = 0; number < 40; number++) yield `_${number} "_${number}" _${number} OR secret`;
  yield `${tenant} ${owner} p${owner} secret`;
  yield `["${tenant}","user","${owner}x"]`;
  yield Array.from({ length: 10_000 }, (_, index) => `w${index}`).join(" ");
  yield `${"secret ".repeat(10_000)}`;
  yield Array.from({ length: 10_000 }, () => "secret").join(" OR ");
  yield `${"(".repeat(5_000)}secret${")".repeat(5_000)}`;
  yield "\u0301".repeat(5_000);
  yield "𝔰𝔢𝔠𝔯𝔢𝔱 ﬁ Ⅷ ㎏ 👨‍👩‍👧‍👦 secret";
  yield "x".repeat(100_000);
}
