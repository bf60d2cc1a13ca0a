import { keyForms, type Mask, maskForm, maskJwts, type SecretForm } from "../../core/values/secret-forms.ts";
import { cardLike, isCardNumber, maskEmails, maskPrivateKeys } from "./personal-data.ts";
import { type RedactPattern, redactPattern } from "./redact-pattern.ts";

/** How much of a value is kept. The rest is dropped without being searched. */
export interface RedactLimits {
  /** Characters of one text or key. */
  readonly text: number;
  /** Per array the newest items, per object the first. */
  readonly items: number;
  /** Total number of values. */
  readonly nodes: number;
}

const noLimits: RedactLimits = { text: Infinity, items: Infinity, nodes: Infinity };

/** Redacts secrets and personal data in values before serialisation, so that the result is valid JSON. */
export class Redactor {
  readonly #patterns: readonly RedactPattern[];
  /**
   * Keys that no pattern matched, since log lines repeat them. Not used for values, which may be slices of long strings and keep them
   * alive.
   */
  readonly #cleanKeys = new Set<string>();

  constructor(userPatterns: readonly string[]) {
    this.#patterns = userPatterns.map(redactPattern);
  }

  /** Truncates before searching, so that dropped text costs nothing. A key that begins before the cut is still recognised. */
  text(text: string, longest = Infinity): string {
    const isCut = text.length > longest + margin;
    const clean = this.#clean(isCut ? text.slice(0, longest + margin) : text, isCut);
    return clean.length > longest ? `${wellFormedEnd(clean.slice(0, longest))}…` : clean;
  }

  /** A copy with every string redacted, keys included, and values under secret-looking keys removed. */
  value(value: unknown, limits: RedactLimits = noLimits): unknown {
    return this.#walk(value, 0, { limits, nodes: 0 });
  }

  #clean(text: string, isCut: boolean): string {
    let clean = text;
    for (const form of forms) clean = maskForm(clean, form, hide);
    clean = maskEmails(maskPrivateKeys(maskJwts(clean, hide, isCut), hide), hide);
    for (const pattern of this.#patterns) clean = pattern(clean, replacement);
    return clean.replace(cardLike, (digits) => (isCardNumber(digits) ? replacement : digits));
  }

  #walk(value: unknown, depth: number, walk: Walk): unknown {
    const { limits } = walk;
    walk.nodes += 1;
    if (typeof value === "string") return this.text(value, limits.text);
    if (typeof value === "number") return isCardNumber(String(value)) ? replacement : value;
    if (typeof value !== "object" || value === null) return typeof value === "bigint" ? String(value) : value;
    if (depth >= deepest) return "[too deep]";
    if (walk.nodes > limits.nodes) return "[left out]";
    if (Array.isArray(value)) {
      const left = Math.max(0, value.length - limits.items);
      const kept = (left === 0 ? value : value.slice(left)).map((item) => this.#walk(item, depth + 1, walk));
      return left === 0 ? kept : [`${left} left out`, ...kept];
    }
    const clean: Record<string, unknown> = {};
    let items = 0;
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue;
      if (++items > limits.items || walk.nodes > limits.nodes) break;
      const item = (value as Record<string, unknown>)[key]; // An own key.
      const isSecret = key.length <= longestKey && secretKey.test(key) && item !== null;
      clean[this.#key(key, limits.text)] = isSecret ? replacement : this.#walk(item, depth + 1, walk);
    }
    return clean;
  }

  #key(key: string, longest: number): string {
    if (this.#cleanKeys.has(key)) return key;
    const clean = this.text(key, longest);
    if (clean === key && key.length <= longestKey) {
      if (this.#cleanKeys.size >= mostKeys) this.#cleanKeys.clear();
      this.#cleanKeys.add(key);
    }
    return clean;
  }
}

interface Walk {
  readonly limits: RedactLimits;
  nodes: number;
}

export const replacement = "[redacted]";
const hide: Mask = () => replacement;
/** Characters searched past the cut, so that a key there is recognised. */
const margin = 256;
const deepest = 64;
const longestKey = 64;
const mostKeys = 1_000;

const secretKey =
  /^(?:x[-_])?(?:api[-_]?key|apikey|authorization|proxy[-_]authorization|password|passwd|pwd|secret|client[-_]?secret|access[-_]?token|refresh[-_]?token|id[-_]?token|auth[-_]?token|private[-_]?key|cookie|set[-_]cookie)$/i;

const ends = new Set(['"', "'", ",", ";"].map((sign) => sign.charCodeAt(0)));

/** A secret recognised by its name: `password: …`. */
const named: SecretForm = {
  start: /\b(?:api[-_ ]?key|password|secret|token)\b\s{0,8}[:=]\s{0,8}["']?[^\s"',;]{6}/gi,
  rest: (unit) => !ends.has(unit) && !isSpace(unit),
};

/** Same characters as `\s`. */
const isSpace = (unit: number): boolean =>
  unit <= 0x20 ? unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) : unit >= 0xa0 && /\s/.test(String.fromCharCode(unit));

const forms: readonly SecretForm[] = [...keyForms, named];

/** Drops a trailing lone surrogate. */
const wellFormedEnd = (text: string): string => {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
};
