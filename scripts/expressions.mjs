// Proves that the regular expressions of src and plugins take linear time: `npm run expressions` after a build, for those that are
// not in test/expressions/linear.json yet; `-- --all` proves each again, which takes minutes. What cannot be proved is printed, and needs an entry in
// test/expressions/exceptions.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { collect, spelled } from "../dist/test/expressions/collect.js";
import { prove } from "../dist/test/expressions/prove.js";

const file = new URL("../test/expressions/linear.json", import.meta.url);
const known = new Set(process.argv.includes("--all") ? [] : JSON.parse(readFileSync(file, "utf8")));
const linear = [];
for (const [text, literal] of new Map(collect().literals.map((one) => [spelled(one), one]))) {
  const verdict = known.has(text) ? "linear" : prove(literal, 60_000);
  if (verdict === "linear") linear.push(text);
  else process.stdout.write(`${literal.file}:${literal.line} ${text} ${verdict}\n`);
}
writeFileSync(file, `${JSON.stringify(linear.sort(), undefined, 2)}\n`);
