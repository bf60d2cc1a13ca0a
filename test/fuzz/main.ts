/** `npm run fuzz -- --minutes N [--seed S] [--only TARGET]`: hostile input from random seeds, for as long as you like. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fuzz } from "./target.ts";
import { openTargets } from "./targets.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "1" }, seed: { type: "string" }, only: { type: "string" } },
});
const minutes = Number(values.minutes);
const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const slice = 5_000;
process.stdout.write(`fuzzing for ${minutes} minutes, seed ${first}\n`);

const folder = mkdtempSync(join(tmpdir(), "venturi-fuzz-"));
const { targets, close } = await openTargets(folder);
const tried = new Map<string, number>();
const end = performance.now() + minutes * 60_000;
let crashes = 0;
process.on("uncaughtException", (thrown) => {
  process.stdout.write(`an error that nothing caught: ${thrown.stack}\n`);
  process.exit(1);
});
for (let round = 0; performance.now() < end && crashes < 10; round++) {
  for (const target of targets) {
    if (values.only !== undefined && target.name !== values.only) continue;
    const left = end - performance.now();
    if (left <= 0) break;
    const { runs, crash } = await fuzz(target, { seed: first + round, ms: Math.min(slice, left) });
    tried.set(target.name, (tried.get(target.name) ?? 0) + runs);
    if (crash === undefined) continue;
    crashes += 1;
    const file = `fuzz-${crash.target.replaceAll(" ", "-")}-${crash.seed}.json`;
    writeFileSync(file, `${JSON.stringify(crash, undefined, 2)}\n`);
    process.stdout.write(
      `CRASH ${crash.target}, seed ${crash.seed}, path ${crash.path}; kept in ${file}: move it to test/fuzz/seeds\n`,
    );
    process.stdout.write(`${crash.counterexample.slice(0, 1_000)}\n${crash.error}\n`);
  }
}
await close();
rmSync(folder, { recursive: true, force: true });
for (const [name, runs] of tried) process.stdout.write(`${name}: ${runs} inputs\n`);
process.stdout.write(crashes === 0 ? "no crash\n" : `${crashes} crashes\n`);
process.exit(crashes === 0 ? 0 : 1);
