/** C0, DEL and C1; with `except`, some of them are fine. */
export function hasControlCharacter(text: string, except = ""): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code < 32 || (code >= 127 && code < 160)) && !except.includes(text[at] ?? "")) return true;
  }
  return false;
}
