/** Filters that can be written into the search box, as `tool:calculator` or `metadata.customer:"Ada L."`. */
export const searchNames = ["tool", "model", "code", "session", "key", "tenant"] as const;

export const isFilter = (name: string): boolean =>
  searchNames.some((known) => known === name) || /^metadata\../s.test(name);

const token = /(?:^|\s)(tool|model|code|session|key|tenant|metadata\.[^\s:]+):(?:"([^"]*)"|(\S+))/g;

/** Takes the filters out of what was written; the rest is text to look for. */
export function readSearch(written: string): { readonly text: string; readonly filters: Record<string, string> } {
  const filters: Record<string, string> = {};
  const text = written.replaceAll(token, (_all, name: string, quoted?: string, plain?: string) => {
    filters[name] = quoted ?? plain ?? "";
    return "";
  });
  return { text: text.trim(), filters };
}
