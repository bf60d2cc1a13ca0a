/** Shorter values occur in text by chance. */
const shortestSecret = 8;
/** Values of at least this length are masked anywhere; shorter ones only as a whole word. */
const unmistakable = 16;

/** Creates a function that replaces each secret value in a text by its name in brackets. */
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
