import { parseArgs } from "node:util";
import { money } from "./money.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    engine: { type: "string", default: "postgres" },
    clients: { type: "string", default: "12" },
    /** For how long runs are started and replicas killed. */
    seconds: { type: "string", default: "40" },
  },
});

if (values.engine !== "postgres" && values.engine !== "nats") throw new Error("--engine is postgres or nats");
const { violations, ...report } = await money({
  engine: values.engine,
  seed: Number(values.seed),
  clients: Number(values.clients),
  seconds: Number(values.seconds),
});
process.stdout.write(`${JSON.stringify({ ...report, violations: violations.length })}\n`);
for (const violation of violations.slice(0, 20)) process.stdout.write(`  ${violation}\n`);
process.exitCode = violations.length === 0 ? 0 : 1;
