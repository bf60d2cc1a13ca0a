import { Automaton, isDigit, isWord } from "./automaton.ts";
import type { Rule } from "./scanner.ts";

type Known = Omit<Rule, "name" | "automaton"> & { readonly expressions: readonly string[] };

const isLetterOrDigit = (rune: number): boolean => (isWord(rune) && rune !== 95) || rune > 127;

/** The named rules. Each expression is executed with RE2 semantics, in linear time. */
const known = {
  email: {
    expressions: [String.raw`[\pL\pN._%+'-]+@(?:[\pL\pN](?:[\pL\pN-]*[\pL\pN])?\.)+\pL{2,}`],
  },
  phone: {
    expressions: [
      // With a country code: +49 (0)30 1234567.
      String.raw`\+[0-9](?:[ ().\/-]{0,3}[0-9]){6,14}`,
      // With a leading zero: 030/1234567, 0171 1234567.
      String.raw`\(?0[1-9][0-9]{0,4}\)?(?:[ \/-]{0,3}[0-9]){5,10}`,
      // (415) 555-0132, 415-555-0132
      String.raw`(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.-])[0-9]{3}[ .-][0-9]{4}`,
    ],
    // Not the rest of a date or of a longer number.
    notAfter: (rune) => isLetterOrDigit(rune) || rune === 45 || rune === 47,
    notBefore: isDigit,
    check: isPhone,
  },
  card: {
    expressions: ["[2-6][0-9]{3}(?:[ -]?[0-9]){9,15}"],
    notAfter: isDigit,
    notBefore: isDigit,
    check: isCard,
  },
  iban: {
    expressions: ["(?i)[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,30}"],
    notAfter: isLetterOrDigit,
    notBefore: isLetterOrDigit,
    check: isIban,
  },
  key: {
    expressions: [
      // OpenAI, Anthropic and others; Stripe.
      "sk-[A-Za-z0-9_-]{16,}",
      "(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}",
      // AWS, Google, Slack, GitLab, GitHub.
      "(?:AKIA|ASIA)[A-Z0-9]{16}",
      "AIza[A-Za-z0-9_-]{30,}",
      "xox[abeoprs]-[A-Za-z0-9-]{10,}",
      "glpat-[A-Za-z0-9_-]{16,}",
      "(?:gh[opsur]_|github_pat_)[A-Za-z0-9_]{20,}",
      // A signed token (JWT).
      String.raw`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+`,
      // A private key: from its first line on, lines of base64, and the last line.
      String.raw`-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?:\s+[A-Za-z0-9+\/=]{40,})*(?:\s+[A-Za-z0-9+\/=]+)?(?:\s+-----END [A-Z ]{0,20}PRIVATE KEY-----)?`,
    ],
    notAfter: isLetterOrDigit,
  },
  /** Phrases by which a text from a tool tries to give the model orders. */
  injection: {
    expressions: [
      String.raw`(?i)(?:ignore|disregard|forget|override)\s+(?:(?:all|any|every|the|your|my|of|these|those|previous|prior|above|earlier|preceding|former|other|system)\s+){1,6}(?:instructions?|prompts?|rules|directions|guidelines|messages|context)`,
      String.raw`(?i)(?:reveal|print|repeat|show|output|send)\s+(?:me\s+)?(?:your|the)\s+(?:(?:full|entire|hidden|secret|initial|original)\s+){0,2}(?:system\s+(?:prompt|message|instructions)|instructions\s+above)`,
      String.raw`(?i)(?:do\s+not|don't|never)\s+(?:tell|inform|mention\s+(?:this|it)\s+to|let)\s+the\s+user`,
      String.raw`(?i)you\s+are\s+now\s+(?:in\s+)?(?:an?\s+)?(?:dan\b|developer\s+mode|jailbroken|unrestricted|free\s+of)`,
      String.raw`(?i)new\s+(?:system\s+)?instructions\s*:`,
      // Conversation turns in the notation models are trained on.
      String.raw`<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)\|>`,
      String.raw`\[\/?INST\]|<<\/?SYS>>`,
      String.raw`(?i)<\/?(?:system|assistant)(?:_prompt|_message)?>`,
      // An image whose URL carries data away.
      String.raw`!\[[^\]\n]{0,80}\]\(https?:\/\/[^)\s]{1,120}[?&][^)\s=]{1,40}=`,
      // Invisible characters.
      String.raw`[\x{E0020}-\x{E007E}]{3,}`,
    ],
  },
} as const satisfies Record<string, Known>;

export const knownRules = Object.keys(known) as (keyof typeof known)[]; // Its own keys.

export function knownRule(name: keyof typeof known): readonly Rule[] {
  const { expressions, ...conditions }: Known = known[name];
  return expressions.map((expression) => ({ name, automaton: automatonOf(expression), ...conditions }));
}

const automata = new Map<string, Automaton>();

/** Cached, because its states are built while it is used. */
function automatonOf(expression: string): Automaton {
  let automaton = automata.get(expression);
  if (automaton === undefined) {
    automaton = new Automaton(expression);
    automata.set(expression, automaton);
  }
  return automaton;
}

const digitsOf = (text: string): string => text.replaceAll(/[^0-9]/g, "");

/** Rejects texts that begin with a date, such as 01-02-2026. */
function isPhone(text: string): boolean {
  const { length } = digitsOf(text);
  return length >= 8 && length <= 15 && !/^[0-9]{2}[-/][0-9]{2}[-/](?:19|20)[0-9]{2}/.test(text);
}

/** 13 to 19 digits with a valid check digit (Luhn). */
function isCard(text: string): boolean {
  const digits = digitsOf(text);
  if (digits.length < 13 || digits.length > 19) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48;
    const weighed = index % 2 === 1 ? digit * 2 : digit;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return sum % 10 === 0;
}

/** IBAN length by country (SWIFT registry). */
const ibanLengths = new Map(
  "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** The country's length, and a remainder of 1 (ISO 7064). */
function isIban(text: string): boolean {
  const plain = text.replaceAll(/[ -]/g, "").toUpperCase();
  if (plain.length !== ibanLengths.get(plain.slice(0, 2))) return false;
  let rest = 0;
  for (const char of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
