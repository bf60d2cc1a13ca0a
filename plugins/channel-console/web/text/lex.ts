import { Lexer, type Token } from "marked";

/** Larger blocks are shown as plain text: the lexer takes most of a second for a 100 kB list. */
export const largestBlock = 16_384;
const deepest = 32;

/** Tokens of one block. Text nested too deeply for the lexer's stack is returned as one plain token. */
export function lex(text: string): Token[] {
  if (text.length > largestBlock || nests(text)) return [plain(text)];
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch {
    return [plain(text)];
  }
}

const plain = (text: string): Token => ({ type: "plain", raw: text, text });

/**
 * Whether unclosed quotes, lists and brackets would make the lexer recurse or backtrack. Counted in one pass: a regular expression would
 * have the same problem.
 */
function nests(text: string): boolean {
  let open = 0;
  let marks = 0;
  let indent = 0;
  let atStart = true;
  let containers = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (char === "\n") {
      open = 0;
      indent = 0;
      containers = 0;
      atStart = true;
      continue;
    }
    if (atStart) {
      if (char === " " || char === "\t") indent += char === "\t" ? 4 : 1;
      else if (">-*+".includes(char)) containers += 1;
      else if (!/[\d.)]/.test(char)) atStart = false;
      if (containers > deepest || (containers > 0 && indent > 2 * deepest + containers)) return true;
    }
    if (char === "[") open += 1;
    else if (char === "]") open = Math.max(0, open - 1);
    marks = "[]*_~`<!".includes(char) ? marks + 1 : 0;
    if (open > deepest || marks > 3 * deepest) return true;
  }
  return false;
}

const named: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  rarr: "→",
  times: "×",
};

/** Decodes the common character references; others stay as written. */
export const decodeEntities = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : "�";
  });

/** The URL of a link if it may be followed: only web and mail. */
export function safeLink(href: string): URL | undefined {
  const trimmed = href.trim();
  if (!/^(?:https?:\/\/|mailto:)/i.test(trimmed) || !URL.canParse(trimmed)) return undefined;
  const url = new URL(trimmed);
  return url.protocol === "http:" || url.protocol === "https:" || url.protocol === "mailto:" ? url : undefined;
}
