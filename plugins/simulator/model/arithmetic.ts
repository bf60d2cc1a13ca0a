/** The first calculation in a text, as an expression; undefined when there is none. */
export function expressionIn(text: string): string | undefined {
  const plain = spellOut(text);
  for (const match of plain.matchAll(runs)) {
    const found = balanced(match[0].trim());
    if (isExpression(found, { text: plain, at: match.index })) return found;
  }
  return undefined;
}

const number = String.raw`\d+(?:\.\d+)?%?`;
const runs = /(?:sqrt\([\d.\s]+\)|[\d(])(?:sqrt\([\d.\s]+\)|[\d\s.()+\-*/^%])*/g;

const spellings: readonly (readonly [RegExp, string])[] = [
  [/(\d),(?=\d{3}\b)/g, "$1"],
  [/[×✕]/g, "*"],
  [/÷/g, "/"],
  [/[−–]/g, "-"],
  [/\b(?:the )?square root of (\d+(?:\.\d+)?)/gi, "sqrt($1)"],
  [new RegExp(String.raw`\b(?:the )?sum of (${number}(?:(?:,| and|, and) ${number})+)`, "gi"), "#+$1#"],
  [new RegExp(String.raw`\b(?:the )?product of (${number}(?:(?:,| and|, and) ${number})+)`, "gi"), "#*$1#"],
  [new RegExp(String.raw`\b(?:the )?difference (?:between|of) (${number}) and (${number})`, "gi"), "$1 - $2"],
  [/(\d)\s*(?:percent|%) of (?=\d)/gi, "$1% * "],
  [/(\d)\s*percent\b/gi, "$1%"],
  [/(\d)\s+squared\b/gi, "$1^2"],
  [/(\d)\s+cubed\b/gi, "$1^3"],
  [/(\d\)?)\s+(?:to the power of|raised to)\s+(?=[\d(])/gi, "$1 ^ "],
  [/(\d[)%]?)\s+plus\s+(?=[\d(])/gi, "$1 + "],
  [/(\d[)%]?)\s+minus\s+(?=[\d(])/gi, "$1 - "],
  [/(\d[)%]?)\s*(?:times|multiplied by|\bx\b)\s*(?=[\d(])/gi, "$1 * "],
  [/(\d[)%]?)\s+(?:divided by|over)\s+(?=[\d(])/gi, "$1 / "],
];

function spellOut(text: string): string {
  let plain = text;
  for (const [pattern, replacement] of spellings) plain = plain.replace(pattern, replacement);
  return plain.replaceAll(/#([+*])([^#]*)#/g, (_, sign: string, numbers: string) =>
    numbers.split(/,? and |, ?/).join(` ${sign} `),
  );
}

/** Strips what a sentence leaves at the end: an operator, a full stop, an unmatched bracket. */
function balanced(run: string): string {
  let result = run.replace(/[\s.+\-*/^(]+$/, "");
  while (count(result, ")") > count(result, "(")) {
    const trimmed = result.replace(/\)([^)]*)$/, "$1").trim();
    if (trimmed === result) break;
    result = trimmed;
  }
  return result.replaceAll(/\s+/g, " ");
}

const count = (text: string, character: string): number => text.split(character).length - 1;

function isExpression(found: string, place: { text: string; at: number }): boolean {
  const before = place.text.slice(0, place.at);
  if (/[\p{L}_#-]$/u.test(before) && !found.startsWith("sqrt")) return false;
  if (/^\d{4}-\d{1,2}-\d{1,2}$/.test(found)) return false;
  if (/^[\d-]+$/.test(found))
    return /\b(what|calculate|compute|how much|evaluate)\b/i.test(before) && /\d-\d/.test(found);
  return /sqrt\(|[\d)%]\s*[-+*/^]\s*[\d(s]/.test(found);
}
