import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { freshSchema, sharedCluster } from "../../plugins/postgres/shared.ts";
import { isSlow } from "../../sweep.ts";
import { testFolder } from "../folder.ts";

const config = (journal: object) =>
  JSON.stringify({
    version: 1,
    providers: { demo: { type: "simulator", pace: 20 } },
    agents: { teller: { model: "demo/count-5000" }, silent: { model: "demo/count-5!stall@2" } },
    journal,
    channels: {},
    telemetry: "off",
  });

// Bounds on time are for `npm run test:slow`.
const cancels = isSlow ? 24 : 6;
/** Longer than a poll's period, so that a poll that became too slow makes some of them late whenever it begins, ms. */
const spread = isSlow ? 3_000 : 500;

describe("a cancel given to another replica", () => {
  const folder = testFolder();
  const sqlite = async () => ({ type: "sqlite", path: folder.path("runs.db") });
  const postgres = async () => ({ type: "postgres", url: (await sharedCluster()).url, schema: freshSchema() });
  const journals = {
    sqlite,
    "sqlite, every hint lost": async () => ({ ...(await sqlite()), watch: "1h" }),
    postgres,
    "postgres behind a pooler": async () => ({ ...(await postgres()), pooler: true }),
    "postgres, every hint lost": async () => ({ ...(await postgres()), pooler: true, poll: "1h" }),
  };

  for (const [name, journal] of Object.entries(journals)) {
    it(`ends the run${isSlow ? " within a second" : ""}: ${name}`, async () => {
      const configFile = folder.write({ "venturi.yaml": config(await journal()) });
      const hosts: Host[] = [];
      try {
        for (let count = 0; count < 2; count++) hosts.push(await openHost({ configFile, env: {}, log: silentLog }));
        const [owner, other] = hosts;
        if (!owner || !other) throw new Error("not open");
        let late = Array.from({ length: cancels }, (_, index) => index);
        // A machine that stands still for a second makes some of them late, but not the same ones three times.
        for (let tries = 1; late.length > 0; tries++) {
          const took = await Promise.all(late.map((index) => cancelOne(owner, other, index)));
          if (!isSlow) return;
          console.log(`      ${took.length} cancels: ${took.map((ms) => ms.toFixed(0)).join(", ")} ms`);
          late = late.filter((_, at) => !((took[at] ?? Number.NaN) < 1_000));
          if (tries === 3) expect(late).to.deep.equal([]);
        }
      } finally {
        for (const host of hosts) await host.close();
      }
    });
  }
});

/** From the word given on one replica to the terminal event that is committed on the other, ms. */
async function cancelOne(owner: Host, other: Host, index: number): Promise<number> {
  const { run } = await owner.runs.start({ agent: index % 2 ? "silent" : "teller", input: { text: "go" } });
  let start = Number.NaN;
  let last: RunEvent | undefined;
  const given: Promise<void>[] = [];
  for await (const batch of owner.runs.follow(run)) {
    last = batch.at(-1);
    if (given.length > 0 || !batch.some(({ type }) => type === "text.delta")) continue;
    // Each meets the poll at another point.
    const wait = (index * spread) / cancels;
    given.push(
      new Promise((resolve) => setTimeout(resolve, wait)).then(async () => {
        start = performance.now();
        await other.runs.signal(run, "cancel", { reason: "enough" });
      }),
    );
  }
  const took = performance.now() - start;
  await Promise.all(given);
  expect(last).to.have.nested.property("error.code", "stream_interrupted");
  return took;
}
