/** Syntax only a shell can execute: pipes, lists, redirections, expansions, globs, comments, assignments. */
const needsShell = /[|&;<>()$`*?[\]{}~#!\n\r]/;

/**
 * Splits a plain command into words and removes quotes, as a POSIX shell would; undefined if a shell would do more than that.
 */
export function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (sign === " " || sign === "\t") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (sign === "'" || sign === '"') {
      const end = text.indexOf(sign, at + 1);
      const quoted = text.slice(at + 1, end);
      if (end < 0 || (sign === '"' && /[$`\\]/.test(quoted))) return undefined;
      word = (word ?? "") + quoted;
      at = end;
    } else if (sign === "\\") {
      const next = text[++at];
      if (next === undefined || next === "\n") return undefined;
      word = (word ?? "") + next;
    } else if (needsShell.test(sign)) return undefined;
    else word = (word ?? "") + sign;
  }
  if (word !== undefined) words.push(word);
  return words[0]?.includes("=") ? undefined : words;
}
