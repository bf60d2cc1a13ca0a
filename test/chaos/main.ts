import { parseArgs } from "node:util";
import { chaos } from "./chaos.ts";

const { values } = parseArgs({
  options: {
    engine: { type: "string", multiple: true, default: ["sqlite", "postgres"] },
    runs: { type: "string", default: "300" },
    clients: { type: "string", default: "30" },
    seed: { type: "string", default: "1" },
    /** Takes checks out of a copy of the journal: `epoch` that one alone, `all` the whole fence. Must fail. */
    mutant: { type: "string" },
    /** Servers of a NATS cluster: 1 or 3. */
    servers: { type: "string", default: "3" },
    /** The engine's clock jumps. */
    jumps: { type: "boolean", default: false },
    unfenced: { type: "boolean", default: false },
    /** Longest one run may take, ms. */
    patience: { type: "string", default: "90000" },
  },
});

const mutation = values.unfenced ? "all" : values.mutant;
if (mutation !== undefined && mutation !== "epoch" && mutation !== "all")
  throw new Error("--mutant epoch or --mutant all");
let found = 0;
for (const engine of values.engine) {
  if (engine !== "sqlite" && engine !== "postgres" && engine !== "nats")
    throw new Error(`${engine} is no journal that can be tested so`);
  const { violations, ...report } = await chaos({
    engine,
    runs: Number(values.runs),
    clients: Number(values.clients),
    seed: Number(values.seed),
    servers: values.servers === "1" ? 1 : 3,
    ...(mutation && { mutation }),
    jumps: values.jumps,
    patience: Number(values.patience),
  });
  found += violations.length;
  process.stdout.write(`${JSON.stringify({ ...report, violations: violations.length })}\n`);
  for (const violation of violations.slice(0, 20)) process.stdout.write(`  ${violation}\n`);
}
process.exitCode = found === 0 ? 0 : 1;
