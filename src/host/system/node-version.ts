import { createRequire } from "node:module";

/** The message for an unsupported Node version, one whose SQLite has no full-text search; undefined when it is supported. Must itself run on old versions. */
export function tooOld(version: string): string | undefined {
  const { engines } = createRequire(import.meta.url)("../../../../package.json") as Package; // Our own file.
  if (engines.node.split(" || ").some((range) => fits(version, range))) return undefined;
  return `venturi needs Node ${engines.node.replaceAll("||", "or")}, and this is ${version}.
In a checkout \`npx venturi\` and \`npm start\` use the Node that \`npm ci\` brings; elsewhere: npm install node@24`;
}

interface Package {
  readonly engines: { readonly node: string };
}

/** Of ranges, those that package.json has: `^22.16` and `>=24`. */
function fits(version: string, range: string): boolean {
  const needed = range.replace(/^(?:\^|>=)/, "");
  return compare(version, needed) >= 0 && (range.startsWith(">=") || parseInt(version, 10) === parseInt(needed, 10));
}

function compare(one: string, other: string): number {
  const numbers = other.split(".").map(Number);
  for (const [index, number] of one.split(".").map(Number).entries()) {
    const difference = number - (numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
