import { wordsOf } from "../run/digest.ts";
import type { FoundNote, Note } from "./memory.ts";

/** Words of one query that are looked for. */
const mostTerms = 32;
/** Notes with one word that are looked at, the newest: a word that more of them have tells little. */
export const mostWithTerm = 500;
/** Notes whose texts are compared with a query. */
const mostCompared = 200;
/** Newest vectors of a place that are compared where the store cannot compare them itself. */
export const mostVectors = 2_000;
/** Of reciprocal rank fusion; from the paper by Cormack, Clarke and Büttcher (2009). */
const fusion = 60;

/**
 * A text as words that can be compared: folded case and accents, no plurals of English, pairs of characters where a script has no
 * spaces. Letters and digits only, so that no word is syntax anywhere.
 */
export const termsOf = (text: string): string[] => wordsOf(text.toWellFormed()).flatMap(termsOfWord);

/** The words of a query, each once. */
export const queryTerms = (text: string): string[] => [...new Set(termsOf(text))].slice(0, mostTerms);

function termsOfWord(word: string): string[] {
  const folded = word.normalize("NFD").replaceAll(/\p{M}/gu, "").normalize("NFC");
  if (folded === "") return [];
  if (!unspaced.test(folded)) return [singular(folded).slice(0, longestTerm)];
  const characters = [...folded];
  if (characters.length < 3) return [folded];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

const longestTerm = 64;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** Harman's S-stemmer: the same on both sides, so that it does no harm to other languages. */
function singular(word: string): string {
  if (word.length < 4 || !word.endsWith("s")) return word;
  if (word.endsWith("ies")) return word.endsWith("eies") || word.endsWith("aies") ? word : `${word.slice(0, -3)}y`;
  return word.endsWith("us") || word.endsWith("ss") ? word : word.slice(0, -1);
}

/** Which notes of a place have a word: numbers of notes, at most `mostWithTerm`, the newest. */
export type WithTerm = (term: string) => readonly number[];

/** Numbers of the notes that are worth a comparison: those with the rarest words first. */
export function candidates(terms: readonly string[], notes: number, withTerm: WithTerm): number[] {
  const weights = new Map<number, number>();
  for (const term of terms) {
    const found = withTerm(term);
    const weight = rarity(found.length, notes);
    for (const number of found) weights.set(number, (weights.get(number) ?? 0) + weight);
  }
  const best = [...weights].sort(([left, a], [right, b]) => b - a || right - left);
  return best.slice(0, mostCompared).map(([number]) => number);
}

const rarity = (found: number, notes: number): number =>
  Math.log(1 + (Math.max(found, notes) - found + 0.5) / (found + 0.5));

/** By Okapi BM25 over these notes alone, best first; those without any of the words are left out. */
export function byWords<Each extends Pick<Note, "text" | "at" | "id">>(
  notes: readonly Each[],
  terms: readonly string[],
): Each[] {
  const counted = notes.map((note) => {
    const words = termsOf(note.text);
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return { note, counts, length: words.length };
  });
  const average = counted.reduce((sum, { length }) => sum + length, 0) / Math.max(1, counted.length) || 1;
  const weights = terms.map((term) => {
    const found = counted.filter(({ counts }) => counts.has(term)).length;
    return { term, weight: rarity(found, counted.length) };
  });
  const scored = counted.flatMap(({ note, counts, length }) => {
    let score = 0;
    for (const { term, weight } of weights) {
      const count = counts.get(term) ?? 0;
      if (count > 0) score += (weight * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / average));
    }
    return score > 0 ? [{ note, score }] : [];
  });
  return scored.sort((left, right) => right.score - left.score || newer(left.note, right.note)).map(({ note }) => note);
}

const newer = (left: Pick<Note, "at" | "id">, right: Pick<Note, "at" | "id">): number =>
  right.at - left.at || (left.id < right.id ? -1 : 1);

/** Both of length 1. */
export function cosine(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return sum;
}

/** Reciprocal rank fusion: what is near the top of both lists comes first. */
export function fused(lists: readonly (readonly Note[])[], top: number): FoundNote[] {
  const scores = new Map<string, { note: Note; score: number }>();
  for (const list of lists) {
    for (const [index, note] of list.entries()) {
      const key = `${note.scope}/${note.owner}/${note.id}`;
      const score = (scores.get(key)?.score ?? 0) + 1 / (fusion + index + 1);
      scores.set(key, { note, score });
    }
  }
  const best = [...scores.values()].sort((left, right) => right.score - left.score || newer(left.note, right.note));
  return best.slice(0, top).map(({ note, score }) => ({ ...note, score }));
}
