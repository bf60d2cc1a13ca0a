import { parseArgs } from "node:util";
import { type FailingEngine, failover } from "./failover.ts";
import { natsEngine } from "./nats.ts";
import { Pair } from "./pair.ts";

const { values } = parseArgs({
  options: {
    /** postgres: a primary with its standby; nats: three servers. */
    engine: { type: "string", default: "postgres" },
    clients: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    /** What happens, one after the other: kill, vanish, stall. */
    failures: { type: "string", default: "kill,vanish,stall,kill" },
    /** Without the standby's word events are lost: the test must notice. */
    asynchronous: { type: "boolean", default: false },
  },
});

const failures = values.failures.split(",").map((failure) => {
  if (failure !== "kill" && failure !== "vanish" && failure !== "stall")
    throw new Error(`${failure} is nothing that is tested; say kill, vanish or stall`);
  return failure;
});
const { violations, ...report } = await failover(await startEngine(), {
  failures,
  clients: Number(values.clients),
  seed: Number(values.seed),
});
process.stdout.write(`${JSON.stringify({ ...report, violations: violations.length })}\n`);
for (const violation of violations.slice(0, 20)) process.stdout.write(`  ${violation}\n`);
process.exitCode = violations.length === 0 ? 0 : 1;

async function startEngine(): Promise<FailingEngine> {
  if (values.engine === "nats") return natsEngine();
  return (await Pair.start(values.asynchronous ? "asynchronous" : "synchronous")).engine();
}
