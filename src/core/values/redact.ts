/** Shorter values occur in text by chance. */
const shortestSecret = 8;
/** Values of at least this length are masked anywhere; shorter ones only as a whole word. */
const unmistakable = 16;

/** Creates a function that replaces each secret value in a text, however it is spelled there, by its name in brackets. */
export function redactor(
  ...secrets: readonly Readonly<Record<string, string | undefined>>[]
): (text: string) => string {
  const longestFirst = secrets
    .flatMap((each) => Object.entries(each))
    .filter((entry): entry is [string, string] => (entry[1] ?? "").length >= shortestSecret)
    .flatMap(([name, value]) => spellings(value).map((spelled): [string, string] => [name, spelled]))
    .sort(([, left], [, right]) => right.length - left.length)
    .map(([name, value]) => ({ replacement: `[${name}]`, pattern: patternOf(value) }));
  return (text) =>
    longestFirst.reduce((clean, { pattern, replacement }) => clean.replace(pattern, () => replacement), text);
}

/** The plain value, its JSON form with and without escaped slashes, and its forms in a URL. */
export function spellings(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const inUrl = encodeURIComponent(secret.toWellFormed());
  return [...new Set([secret, json, json.replaceAll("/", "\\/"), inUrl, inUrl.replaceAll("%20", "+")])];
}

const harmlessHeader = /^(?:accept|content-type|user-agent|accept-language)$/i;

/**
 * Headers whose values a server may echo but nobody else may read: `Bearer abc`, and `abc` alone. A value of more words, such as an
 * application's title, is no credential after a scheme; its last words may be in any text.
 */
export function headerSecrets(headers: Readonly<Record<string, string>>): Record<string, string> {
  const secret = Object.entries(headers).filter(([name]) => !harmlessHeader.test(name));
  const alone = secret.flatMap(([name, value]) => {
    const [, credential] = /^\w+\s+(\S+)$/.exec(value.trim()) ?? [];
    return credential === undefined ? [] : [[`${name} value`, credential]];
  });
  return Object.fromEntries([...secret, ...alone]);
}

function patternOf(value: string): RegExp {
  const exact = value.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(value.length >= unmistakable ? exact : `(?<![\\w-])${exact}(?![\\w-])`, "gu");
}
