/* biome-ignore-all lint/suspicious/noControlCharactersInRegex: control characters are what this is about */

/** Escape sequences of terminals: colours and cursor movements that tools print. */
const ansi = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
/** Bidirectional marks and other invisible characters that hide text. */
const invisible = /[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/**
 * Makes untrusted text safe to show: removes terminal escapes, shows control characters as symbols, and marks characters that reorder or
 * hide text.
 */
export function printable(text: string): string {
  if (!mayNeed.test(text)) return text;
  return text
    .replaceAll(ansi, "")
    .replaceAll(control, (char) => {
      const code = char.charCodeAt(0);
      return code < 32 ? String.fromCharCode(0x2400 + code) : code === 127 ? "␡" : "�";
    })
    .replaceAll(invisible, "�");
}

const mayNeed =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\udb40]/;
