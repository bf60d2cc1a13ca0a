/** Shorter values occur in texts by chance. */
const shortestSecret = 8;
/** From this length on a value is masked wherever it stands; a shorter one only where it stands by itself. */
const unmistakable = 16;

/** Takes values that must not be shown out of a text; each is replaced by its name in brackets. */
export function redactor(secrets: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const longestFirst = Object.entries(secrets)
    .filter((entry): entry is [string, string] => (entry[1] ?? "").length >= shortestSecret)
    .sort(([, left], [, right]) => right.length - left.length)
    .map(([name, value]) => ({ replacement: `[${name}]`, pattern: patternOf(value) }));
  return (text) =>
    longestFirst.reduce((clean, { pattern, replacement }) => clean.replace(pattern, () => replacement), text);
}

function patternOf(value: string): RegExp {
  const exact = value.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(value.length >= unmistakable ? exact : `(?<![\\w-])${exact}(?![\\w-])`, "gu");
}
