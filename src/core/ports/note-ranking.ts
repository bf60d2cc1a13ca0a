import { wordsOf } from "../run/digest.ts";
import type { FoundNote, Note } from "./memory.ts";

/** Maximum words used of one query. */
const mostTerms = 32;
/** Maximum notes examined per word, newest first: a more frequent word says little. */
export const mostWithTerm = 500;
/** Maximum notes whose texts are compared with a query. */
const mostCompared = 200;
/** Maximum vectors compared per place, newest first, if the store cannot compare them itself. */
export const mostVectors = 2_000;
/** Constant of reciprocal rank fusion, from Cormack, Clarke and Büttcher (2009). */
const fusion = 60;

/**
 * Splits a text into comparable words: case and accents folded, English plurals removed, character pairs for scripts without spaces. Only
 * letters and digits, so that no word is query syntax.
 */
export const termsOf = (text: string): string[] => wordsOf(text.toWellFormed()).flatMap(termsOfWord);

/** The distinct words of a query. */
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

/** Harman's S-stemmer; applied to texts and queries alike, so it does no harm in other languages. */
function singular(word: string): string {
  if (word.length < 4 || !word.endsWith("s")) return word;
  if (word.endsWith("ies")) return word.endsWith("eies") || word.endsWith("aies") ? word : `${word.slice(0, -3)}y`;
  return word.endsWith("us") || word.endsWith("ss") ? word : word.slice(0, -1);
}

/** Looks up the notes of a place that contain a word: note numbers, the newest `mostWithTerm` at most. */
export type WithTerm = (term: string) => readonly number[];

/** Numbers of the notes worth comparing, those with the rarest words first. */
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

/** Ranks by Okapi BM25 over these notes only, best first; notes without any of the words are left out. */
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

/** Both have unit length. */
export function cosine(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return sum;
}

/** Reciprocal rank fusion: notes near the top of both lists come first. */
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
