// The process whose opening rows.mjs measures: node --expose-gc bench/rows-open.mjs WHERE
// Prints the ms until it can claim and append, until its first list and until a list that has seen every run, and its memory.
import { randomUUID } from "node:crypto";
import { openAt } from "./rows-engines.mjs";

const where = JSON.parse(process.argv[2]);
const before = memory();
const start = performance.now();
const journal = await openAt(where);
await journal.claim("opener", 1);
const request = { agent: "agent-1", input: { text: "hi" } };
const item = { run: `run_${randomUUID()}`, tenant: "tenant-1", session: undefined, request, claimFor: "opener" };
const { claim } = await journal.enqueue(item);
const { run, head } = claim.ownership;
const end = { type: "run.finished", finish: "stop", output: "", usage: {}, rounds: 1, timing: {} };
await journal.append([{ ownership: claim.ownership, events: [{ ...end, run, seq: head + 1, at: 0 }], state: "done" }]);
const ready = performance.now() - start;
const { rss: readyRss } = memory();
await journal.list({ limit: 50 });
const listed = performance.now() - start;
await journal.list({ tenant: "nobody", outcome: "failed", limit: 50 });
const complete = performance.now() - start;
const after = memory();
console.log(JSON.stringify({ ready, listed, complete, readyRss, rss: after.rss, held: after.held - before.held }));
await journal.close();

function memory() {
  global.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, held: heapUsed + external };
}
