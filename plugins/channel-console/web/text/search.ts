/** Filters for the search box, such as `tool:calculator` or `metadata.customer:"Ada L."`. */
export const searchNames = [
  "status",
  "agent",
  "tenant",
  "code",
  "since",
  "until",
  "tool",
  "model",
  "session",
  "key",
  "min",
  "label",
] as const;

/** Filters without a control in the bar are shown as chips. */
const chips = ["tool", "model", "code", "session", "key", "tenant", "label"];

export const isFilter = (name: string): boolean => chips.includes(name) || isMetadata(name);

const isMetadata = (name: string): boolean => name.startsWith("metadata.") && name.length > 9;
const isName = (name: string): boolean => searchNames.some((known) => known === name) || isMetadata(name);

/** Extracts the filters from the search text; the rest is full-text search. */
export function readSearch(written: string): { readonly text: string; readonly filters: Record<string, string> } {
  const filters: Record<string, string> = {};
  const rest: string[] = [];
  for (const token of tokensOf(written)) {
    const colon = token.indexOf(":");
    const name = token.slice(0, Math.max(0, colon));
    const value = unquoted(token.slice(colon + 1));
    if (isName(name) && value !== "") filters[name] = value;
    else rest.push(token);
  }
  return { text: rest.join(" "), filters };
}

const unquoted = (value: string): string =>
  value.startsWith('"') ? value.slice(1, value.endsWith('"') && value.length > 1 ? -1 : undefined) : value;

/** Splits at blanks, except within quotes. */
function tokensOf(written: string): string[] {
  const tokens: string[] = [];
  let token = "";
  let quoted = false;
  for (const sign of written) {
    if (sign === '"') quoted = !quoted;
    if (sign.trim() === "" && !quoted) {
      if (token !== "") tokens.push(token);
      token = "";
    } else token += sign;
  }
  return token === "" ? tokens : [...tokens, token];
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Parses `24h`, `7d` or a date to ms since the epoch; undefined otherwise. */
export function momentOf(written: string, now: number): number | undefined {
  const unit = units[written.slice(-1)];
  const amount = Number(written.slice(0, -1));
  if (unit !== undefined && amount > 0) return now - amount * unit;
  if (/^\d{13}$/.test(written)) return Number(written);
  const date = Date.parse(written);
  return Number.isNaN(date) ? undefined : date;
}

/** Completions for the last word of the search box. */
export function completionsOf(
  written: string,
  values: Readonly<Record<string, readonly string[]>>,
): { readonly before: string; readonly found: readonly string[] } {
  const start = written.lastIndexOf(" ") + 1;
  const before = written.slice(0, start);
  const word = written.slice(start);
  const colon = word.indexOf(":");
  if (colon < 0) {
    const found = word === "" ? [] : searchNames.filter((name) => name.startsWith(word)).map((name) => `${name}:`);
    return { before, found };
  }
  const name = word.slice(0, colon);
  const typed = word.slice(colon + 1).toLowerCase();
  const known = (values[name] ?? []).filter((value) => value.toLowerCase().startsWith(typed) && value !== typed);
  return { before, found: known.slice(0, 8).map((value) => `${name}:${value.includes(" ") ? `"${value}"` : value}`) };
}
