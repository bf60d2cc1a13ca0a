import { parseArgs } from "node:util";
import { outage } from "./outage.ts";

const { values } = parseArgs({
  options: {
    engine: { type: "string", multiple: true, default: ["sqlite", "postgres"] },
    runs: { type: "string", default: "20" },
    seconds: { type: "string", default: "60" },
    /** Servers of a NATS cluster: 1 or 3. */
    servers: { type: "string", default: "3" },
  },
});

let found = 0;
for (const engine of values.engine) {
  if (engine !== "sqlite" && engine !== "postgres" && engine !== "nats")
    throw new Error(`${engine} is no journal that can be tested so`);
  const down = Number(values.seconds) * 1_000;
  const servers = values.servers === "1" ? 1 : 3;
  const { violations, ...report } = await outage({ engine, servers, runs: Number(values.runs), down });
  found += violations.length;
  process.stdout.write(`${JSON.stringify({ ...report, violations: violations.length })}\n`);
  for (const violation of violations.slice(0, 20)) process.stdout.write(`  ${violation}\n`);
}
process.exitCode = found === 0 ? 0 : 1;
