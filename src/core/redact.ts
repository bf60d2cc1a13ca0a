const shortestSecret = 6;

/** Takes values that must not be shown out of a text; each is replaced by its name in brackets. */
export function redactor(secrets: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const longestFirst = Object.entries(secrets)
    .filter((entry): entry is [string, string] => (entry[1] ?? "").length >= shortestSecret)
    .sort(([, left], [, right]) => right.length - left.length);
  return (text) => longestFirst.reduce((clean, [name, value]) => clean.replaceAll(value, `[${name}]`), text);
}
