// The table of a run, its survivors, and the file that keeps both.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { rooms } from "./rooms.mjs";

export function scoreOf(mutants, kept) {
  const table = {};
  for (const room of [...rooms, "all"]) {
    const all = mutants.filter((mutant) => room === "all" || mutant.room === room);
    const run = all.filter(({ key }) => kept.get(key));
    const count = (status) => run.filter(({ key }) => kept.get(key).status === status).length;
    const [killed, timeout, survived, uncovered] = ["killed", "timeout", "survived", "uncovered"].map(count);
    const statics = count("static");
    const judged = run.length - statics;
    const score = judged === 0 ? undefined : (killed + timeout) / judged;
    table[room] = {
      mutants: all.length,
      run: run.length,
      killed,
      timeout,
      survived,
      uncovered,
      static: statics,
      score: score && round(score * 100),
      "95%": score && interval(score, judged).map((bound) => round(bound * 100)),
    };
  }
  return table;
}

/** Mutants that no test noticed, in the order of the sources. */
export function survivorsOf(mutants, kept) {
  const isLeft = ({ key }) => ["survived", "uncovered"].includes(kept.get(key)?.status);
  const before = (a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line);
  return mutants
    .filter(isLeft)
    .sort(before)
    .map(({ key, file, line, mutator, original, replacement }) => {
      const change = `${oneLine(original)} → ${oneLine(replacement)}`;
      return {
        key,
        at: `${file}:${line}`,
        change,
        text: `${kept.get(key).status} ${key} ${file}:${line} ${mutator}\n  ${change}`,
      };
    });
}

/** What was written by hand about a survivor stays beside it. */
export function record(file, { table, survivors, options: { count, seed } }) {
  const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")).survivors ?? []) : [];
  const reasons = new Map(earlier.map(({ key, reason }) => [key, reason]));
  const listed = survivors.map(({ key, at, change }) => ({ key, at, change, reason: reasons.get(key) }));
  const about = "CONTRIBUTING.md says what counts. Each score has its 95 % interval.";
  const command = `npm run mutate -- --count ${count} --seed ${seed} --record`;
  // As the formatter writes it.
  const text = JSON.stringify({ about, command, rooms: table, survivors: listed }, null, 2).replaceAll(
    /\[\s+([\d.]+),\s+([\d.]+)\s+\]/g,
    "[$1, $2]",
  );
  writeFileSync(file, `${text}\n`);
}

function oneLine(text) {
  return text.replaceAll(/\s+/g, " ").slice(0, 120);
}

/** Wilson's interval for a share of `count` that was sampled. */
function interval(share, count) {
  const z = 1.96;
  const centre = share + (z * z) / (2 * count);
  const spread = z * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count));
  const scale = 1 + (z * z) / count;
  return [(centre - spread) / scale, (centre + spread) / scale];
}

const round = (value) => Math.round(value * 10) / 10;
