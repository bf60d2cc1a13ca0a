/**
 * Makes untrusted text safe for a terminal: characters that would move the cursor, change colours, set the title or clipboard,
 * or reorder text are shown as symbols. Works character by character, so chunk boundaries do not matter. Newlines and tabs
 * stay.
 */
export const forTerminal = (text: string): string =>
  unsafe.test(text) ? text.replaceAll("\r\n", "\n").replace(everyUnsafe, symbolOf) : text;

/** The same on one line, for use within a line of output. */
export const forOneLine = (text: string): string =>
  forTerminal(text).replace(/[\n\t]/g, (sign) => (sign === "\n" ? "␤" : " "));

/** JSON with unsafe characters escaped; parses to the same value. */
export const jsonForTerminal = (json: string): string =>
  json.replace(everyUnsafe, (sign) =>
    [...Array(sign.length).keys()].map((at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );

/**
 * C0 except tab and newline, DEL, C1; bidirectional overrides, embeddings, isolates and marks; line and paragraph separators;
 * interlinear annotations; invisible tags. Every escape sequence loses its first character.
 */
const pattern =
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufff9-\\ufffb]|[\\u{e0000}-\\u{e007f}]";
const unsafe = new RegExp(pattern, "u");
const everyUnsafe = new RegExp(pattern, "gu");

function symbolOf(sign: string): string {
  const code = sign.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  if (code < 0xa0) return `␛${String.fromCodePoint(code - 0x40)}`; // C1 stands for ESC and a letter.
  return `⟨U+${code.toString(16).toUpperCase()}⟩`;
}
