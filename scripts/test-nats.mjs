// Everything about the NATS journal, on one and on three real servers: npm run test:nats -- [options]
//   --only contract,cases,chaos,mutants,failover,outage    parts of it; all when absent
//   --seeds 1,2,3  --runs 60  --clients 12                 of each chaos run
//   --servers 1,3                                          sizes of the cluster for chaos, failover and outage
//   --seconds 60                                           how long the outage is
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { natsServer } from "./nats-server.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "contract,cases,chaos,mutants,failover,outage" },
    seeds: { type: "string", default: "1,2,3" },
    runs: { type: "string", default: "60" },
    clients: { type: "string", default: "12" },
    servers: { type: "string", default: "1,3" },
    seconds: { type: "string", default: "60" },
  },
});

process.env.NATS_SERVER = await natsServer();
const mocha = (file) => node("node_modules/mocha/bin/mocha.js", ["--no-config", "--exit", "--timeout", "60000", file]);
const sizes = values.servers.split(",");
// Each lost leader costs an election, and there is another fault every second: what is stuck stays stuck for longer than this.
const load = ["--engine", "nats", "--runs", values.runs, "--clients", values.clients, "--patience", "240000"];
const chaos = "dist/test/chaos/main.js";

const parts = {
  contract: () => mocha("dist/test/nats/contract.suite.js"),
  cases: () => mocha("dist/test/nats/*.cases.js"),
  async chaos() {
    for (const size of sizes)
      for (const seed of values.seeds.split(",")) await node(chaos, [...load, "--servers", size, "--seed", seed]);
  },
  /** With the epoch check or the whole fence taken out the same test must fail; some seed shows it. */
  async mutants() {
    for (const mutant of ["epoch", "all"]) {
      const found = [];
      for (const seed of values.seeds.split(","))
        if (found.length === 0)
          found.push(...(await fails(chaos, [...load, "--patience", "60000", "--seed", seed, "--mutant", mutant])));
      if (found.length === 0) throw new Error(`the mutant ${mutant} was not noticed`);
    }
  },
  failover: () => node("dist/test/failover/main.js", ["--engine", "nats", "--clients", values.clients]),
  async outage() {
    const options = ["--engine", "nats", "--seconds", values.seconds];
    for (const size of sizes) await node("dist/test/outage/main.js", [...options, "--servers", size]);
  },
};

for (const name of values.only.split(",")) {
  if (!(name in parts)) throw new Error(`${name} is no part of it; say ${Object.keys(parts).join(", ")}`);
  console.log(`\n${name}`);
  await parts[name]();
}

function node(file, parameters) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--no-warnings", file, ...parameters], { stdio: "inherit" });
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`${file} ${parameters.join(" ")} failed`))));
  });
}

async function fails(file, parameters) {
  try {
    await node(file, parameters);
    return [];
  } catch (error) {
    return [error];
  }
}
