// The table of a run, and the file that keeps it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { folders } from "./sandbox.mjs";

export function scoreOf(mutants, kept) {
  const table = {};
  for (const folder of folders) {
    const all = mutants.filter((mutant) => mutant.folder === folder);
    const run = all.filter(({ key }) => kept.get(key));
    const count = (status) => run.filter(({ key }) => kept.get(key).status === status).length;
    const [killed, timeout, survived, uncovered] = ["killed", "timeout", "survived", "uncovered"].map(count);
    const statics = count("static");
    const judged = run.length - statics;
    const score = judged === 0 ? undefined : (killed + timeout) / judged;
    table[folder] = {
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

/** Replaces the folders that were judged; the others stay as they were recorded. */
export function record(file, table, { sample, seed }) {
  const recorded = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  for (const [folder, row] of Object.entries(table)) {
    if (row.run > 0) recorded[folder] = { sample: Number(sample), seed: Number(seed), ...row };
  }
  // As the formatter writes it.
  const text = JSON.stringify(recorded, null, 2).replaceAll(/\[\s+([\d.]+),\s+([\d.]+)\s+\]/g, "[$1, $2]");
  writeFileSync(file, `${text}\n`);
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
