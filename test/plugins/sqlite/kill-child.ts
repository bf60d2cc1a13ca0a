import { SqliteJournal } from "../../../plugins/sqlite/journal.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { Committer } from "../../../src/journal/committer.ts";

/** Writes runs as fast as it can and says on stdout what has been acknowledged, until it is killed. */
const [file = "", name = ""] = process.argv.slice(2);
const journal = new SqliteJournal({ file, lease: 60_000, busyTimeout: 5_000, watch: 1_000 });
const committer = new Committer({ journal, clock: systemClock });
await journal.heartbeat(name);

async function write(run: string): Promise<void> {
  const request = { agent: "a", input: {} };
  const { claim } = await journal.enqueue({ run, tenant: "default", session: undefined, request, claimFor: name });
  if (!claim) throw new Error("not claimed");
  const log = committer.openLog(claim.ownership);
  for (let n = 0; ; n++) {
    log.write({ type: "text.delta", round: 1, text: "x".repeat(n % 300) });
    if (n % 5 !== 0) continue;
    await log.flush();
    process.stdout.write(`${run} ${log.ownership.head}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, n) => write(`${name}-${n}`)));
