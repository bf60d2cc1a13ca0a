import { parseArgs } from "node:util";
import { killWorkers } from "./workers.ts";

const { values } = parseArgs({
  options: {
    engine: { type: "string", multiple: true, default: ["sqlite", "postgres"] },
    processes: { type: "string", default: "3" },
    kills: { type: "string", default: "100" },
    streams: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
  },
});

let found = 0;
for (const engine of values.engine) {
  if (engine !== "sqlite" && engine !== "postgres") throw new Error(`${engine} is no journal that can be tested so`);
  const [processes, kills, streams, seed] = [values.processes, values.kills, values.streams, values.seed].map(Number);
  const { violations, ...report } = await killWorkers({
    engine,
    processes: processes ?? 3,
    kills: kills ?? 100,
    streams: streams ?? 200,
    seed: seed ?? 1,
  });
  found += violations.length;
  process.stdout.write(`${JSON.stringify({ ...report, violations: violations.length })}\n`);
  for (const violation of violations.slice(0, 20)) process.stdout.write(`  ${violation}\n`);
}
process.exitCode = found === 0 ? 0 : 1;
