/** C0, DEL and C1, except the characters in `except`. */
export function hasControlCharacter(text: string, except = ""): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code < 32 || (code >= 127 && code < 160)) && !except.includes(text[at] ?? "")) return true;
  }
  return false;
}
