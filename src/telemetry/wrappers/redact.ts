/** Redacts secrets and personal data in values before serialisation, so that the result is valid JSON. */
export class Redactor {
  readonly #patterns: readonly RegExp[];
  /** Keys that no pattern matched: log lines repeat them. Not for values, which may be parts of long strings and keep them alive. */
  readonly #cleanKeys = new Set<string>();

  constructor(userPatterns: readonly string[]) {
    this.#patterns = [...knownPatterns, ...userPatterns.map((pattern) => new RegExp(pattern, "gu"))];
  }

  text(text: string): string {
    let clean = text;
    for (const pattern of this.#patterns) clean = clean.replace(pattern, replacement);
    return clean.replace(cardLike, (digits) => (isCardNumber(digits) ? replacement : digits));
  }

  /** A copy with every string redacted, keys included, and values under secret-looking keys removed. */
  value(value: unknown): unknown {
    return this.#walk(value, 0);
  }

  #walk(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") return isCardNumber(String(value)) ? replacement : value;
    if (typeof value !== "object" || value === null) return typeof value === "bigint" ? String(value) : value;
    if (depth >= deepest) return "[too deep]";
    if (Array.isArray(value)) return value.map((item) => this.#walk(item, depth + 1));
    const clean: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      clean[this.#key(key)] = secretKey.test(key) && item !== null ? replacement : this.#walk(item, depth + 1);
    }
    return clean;
  }

  #key(key: string): string {
    if (this.#cleanKeys.has(key)) return key;
    const clean = this.text(key);
    if (clean === key && key.length <= longestKey) {
      if (this.#cleanKeys.size >= mostKeys) this.#cleanKeys.clear();
      this.#cleanKeys.add(key);
    }
    return clean;
  }
}

export const replacement = "[redacted]";
const deepest = 64;
const longestKey = 64;
const mostKeys = 1_000;

const secretKey =
  /^(?:x[-_])?(?:api[-_]?key|apikey|authorization|proxy[-_]authorization|password|passwd|pwd|secret|client[-_]?secret|access[-_]?token|refresh[-_]?token|id[-_]?token|auth[-_]?token|private[-_]?key|cookie|set[-_]cookie)$/i;

const knownPatterns: readonly RegExp[] = [
  /\b(?:bearer|basic)\s+[a-z0-9._~+/=-]{8,}/giu,
  // Vendor key prefixes: OpenAI, Anthropic, GitHub, Slack, Google, AWS, Stripe, Hugging Face, GitLab.
  /\b(?:sk|pk|rk)[-_][a-z0-9_-]{16,}/giu,
  /\b(?:gh[pousr]|github_pat)_[a-z0-9_]{20,}/giu,
  /\bxox[abprs]-[a-z0-9-]{10,}/giu,
  /\bAIza[\w-]{30,}/gu,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/gu,
  /\bhf_[a-z0-9]{20,}/giu,
  /\bglpat-[\w-]{20,}/gu,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/gu,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu,
  /\b(?:api[-_ ]?key|password|secret|token)\b(\s*[:=]\s*)["']?[^\s"',;]{6,}/giu,
  // Bounded on both sides: an unbounded local part makes matching quadratic in long words.
  /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu,
];

const cardLike = /(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d])/gu;

/** 13 to 19 digits with a valid Luhn check digit; order numbers and timestamps rarely have one. */
function isCardNumber(text: string): boolean {
  let sum = 0;
  let count = 0;
  for (let index = text.length - 1; index >= 0; index--) {
    const digit = text.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) continue;
    const doubled = count % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
    count++;
  }
  return count >= 13 && count <= 19 && sum % 10 === 0 && sum > 0;
}
