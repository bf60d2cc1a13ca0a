const code = /^\s*(?:```|~~~)/;

/** What can be spoken of a sentence: no code, no Markdown, URLs by host. */
export function speakable(sentence: string): string {
  if (code.test(sentence)) return "";
  const words = sentence
    .replaceAll(/!?\[([^\]]*)\]\([^)\s]*\)/g, "$1")
    .replaceAll(/https?:\/\/(?:www\.)?([^\s/?#]+)[^\s]*?(?=[.!?,;:)]*(?:\s|$))/gi, "$1")
    .replaceAll(/^\s*(?:#{1,6}|[-*+>])\s+/gm, "")
    .replaceAll(/[*_`~|]+/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return /[\p{L}\p{N}]/u.test(words) ? words : "";
}
