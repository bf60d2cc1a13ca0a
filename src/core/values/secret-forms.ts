/**
 * Finds credentials by their form. Every expression has a fixed width, and the rest is scanned character by character: a long word costs
 * its length, not its square, and cannot overflow V8's backtracking stack (which happens at 8 MB of one class).
 */
export interface SecretForm {
  /** Matches what identifies the credential. Its first group, if any, is not part of the secret. */
  readonly start: RegExp;
  /** Whether the character continues it; absent if `start` matches all of it. */
  readonly rest?: (unit: number) => boolean;
}

/** Produces the mask; the first `shown` characters of `found` are not secret. */
export type Mask = (found: string, shown: number) => string;

const isAny = (signs: string) => {
  const allowed = new Set([...signs].map((sign) => sign.charCodeAt(0)));
  return (unit: number): boolean => isAlphanumeric(unit) || allowed.has(unit);
};

export const isAlphanumeric = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a);

const isWord = isAny("_-");

/** Vendor key prefixes: OpenAI, Anthropic, GitHub, Slack, Google, AWS, Stripe, Hugging Face, GitLab. */
export const keyForms: readonly SecretForm[] = [
  { start: /(\b(?:bearer|basic)\s{1,8})[a-z0-9._~+/=-]{8}/gi, rest: isAny("._~+/=-") },
  { start: /\b(?:sk|pk|rk)[-_][a-z0-9_-]{16}/gi, rest: isWord },
  { start: /\b(?:gh[pousr]|github_pat)_[a-z0-9_]{20}/gi, rest: isAny("_") },
  { start: /\bxox[abprs]-[a-z0-9-]{10}/gi, rest: isAny("-") },
  { start: /\bAIza[\w-]{30}/g, rest: isWord },
  { start: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { start: /\bhf_[a-z0-9]{20}/gi, rest: isAlphanumeric },
  { start: /\bglpat-[\w-]{20}/g, rest: isWord },
];

export function maskForm(text: string, { start, rest }: SecretForm, mask: Mask): string {
  let clean = "";
  let done = 0;
  start.lastIndex = 0;
  for (let found = start.exec(text); found !== null; found = start.exec(text)) {
    let end = found.index + found[0].length;
    if (rest !== undefined) while (end < text.length && rest(text.charCodeAt(end))) end++;
    clean += text.slice(done, found.index) + mask(text.slice(found.index, end), found[1]?.length ?? 0);
    done = end;
    start.lastIndex = end;
  }
  return done === 0 ? text : clean + text.slice(done);
}

/** Masks JSON Web Tokens: three base64url words separated by dots. `isCut`: the text may end inside one. */
export function maskJwts(text: string, mask: Mask, isCut = false): string {
  let clean = "";
  let done = 0;
  for (let at = text.indexOf("eyJ"); at >= 0; at = text.indexOf("eyJ", at)) {
    if (!startsWord(text, at)) {
      at += 3;
      continue;
    }
    const first = endOfWord(text, at);
    const end = endOfJwt(text, { at, first, isCut });
    if (end >= 0) {
      clean += text.slice(done, at) + mask(text.slice(at, end), 0);
      done = end;
    }
    // A later start in the same word has the same end and fewer characters, so it is not a token either.
    at = Math.max(first, end);
  }
  return done === 0 ? text : clean + text.slice(done);
}

const shortestSegment = 8;
const dot = 0x2e;

function endOfJwt(text: string, { at, first, isCut }: { at: number; first: number; isCut: boolean }): number {
  if (isCut && first === text.length) return first;
  if (first - at - 3 < shortestSegment || text.charCodeAt(first) !== dot) return -1;
  const second = endOfWord(text, first + 1);
  if (isCut && second === text.length) return second;
  if (second - first - 1 < shortestSegment || text.charCodeAt(second) !== dot) return -1;
  return endOfWord(text, second + 1);
}

function endOfWord(text: string, start: number): number {
  let end = start;
  while (end < text.length && isWord(text.charCodeAt(end))) end++;
  return end;
}

const underscore = 0x5f;
const startsWord = (text: string, at: number): boolean => {
  const before = at === 0 ? 0x20 : text.charCodeAt(at - 1);
  return !isAlphanumeric(before) && before !== underscore;
};
