const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text and attributes of HTML and XML; drops control characters, which XML does not allow. */
export function escapeMarkup(text: string): string {
  let clean = "";
  for (const sign of text.toWellFormed()) {
    const code = sign.codePointAt(0) ?? 0;
    const isControl =
      (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) || code === 0xfffe || code === 0xffff;
    clean += isControl ? "\ufffd" : (escapes[sign] ?? sign);
  }
  return clean;
}
