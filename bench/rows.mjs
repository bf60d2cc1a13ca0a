// What opening, claim, append, enqueue, list and get cost in a journal that holds many ended runs.
//   node bench/rows.mjs [--engine sqlite] [--engine postgres] [--engine nats] [--sizes 10000,100000,1000000] [--times 200] [--events 10] [--json]
// Ended runs are put in in bulk, each with one record of so many events; the rest is done through the journal's own methods.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { openAt, startEngine } from "./rows-engines.mjs";

const { values } = parseArgs({
  options: {
    engine: { type: "string", multiple: true, default: ["sqlite", "postgres"] },
    sizes: { type: "string", default: "10000,100000,1000000" },
    times: { type: "string", default: "200" },
    events: { type: "string", default: "10" },
    json: { type: "boolean", default: false },
  },
});
const sizes = values.sizes.split(",").map(Number);
const times = Number(values.times);
const events = Number(values.events);

for (const name of values.engine) {
  const engine = await startEngine(name, events);
  const found = [];
  let there = 0;
  try {
    for (const size of sizes) {
      await engine.fill(there, size);
      there = size;
      found.push({
        size,
        bytes: await engine.bytes(),
        ...(await openings(engine, size)),
        ...(await operations(engine)),
      });
      // A large size may take longer than one waits for it.
      console.error(JSON.stringify({ engine: name, ...found.at(-1) }));
    }
  } finally {
    await engine.close();
  }
  if (values.json) console.log(JSON.stringify({ engine: name, found }));
  else print(name, found);
}

/** Each in its own process. */
async function openings({ where, forgetCheckpoint }, size) {
  const results = {};
  if (forgetCheckpoint) {
    await forgetCheckpoint();
    results["open, no checkpoint"] = (await opening(where)).ready;
  }
  const { ready, listed, complete, readyRss, rss, held } = await opening(where);
  return {
    ...results,
    open: ready,
    "open, first list": listed,
    "open, all listed": complete,
    "MB when open": readyRss / 1e6,
    "MB when all listed": rss / 1e6,
    "held bytes a run": held / size,
  };
}

async function opening(where) {
  const file = fileURLToPath(new URL("rows-open.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--no-warnings",
    "--expose-gc",
    file,
    JSON.stringify(where),
  ]);
  return JSON.parse(stdout);
}

async function operations({ where }) {
  const journal = await openAt(where);
  try {
    return await measure(journal);
  } finally {
    await journal.close();
  }
}

function print(name, found) {
  console.log(
    `${name}, load ${loadavg()[0].toFixed(1)}: ms (of an operation, the median of ${times}), and the exponent from the first to the last size`,
  );
  console.log(`  ${"".padEnd(22)}${found.map(({ size }) => String(size).padStart(10)).join("")}  exponent`);
  const [first, last] = [found[0], found.at(-1)];
  for (const what of Object.keys(first).filter((key) => key !== "size" && key !== "bytes")) {
    const exponent = Math.log(last[what] / first[what]) / Math.log(last.size / first.size);
    const row = found.map((each) => each[what].toFixed(2).padStart(10)).join("");
    console.log(`  ${what.padEnd(22)}${row}  ${found.length > 1 ? exponent.toFixed(2) : ""}`);
  }
  console.log(
    `  ${"kB a run".padEnd(22)}${found.map(({ size, bytes }) => (bytes / 1024 / size).toFixed(2).padStart(10)).join("")}`,
  );
}

async function measure(journal) {
  const request = { agent: "agent-1", input: { text: "hi" } };
  const results = {};
  const each = async (what, action) => {
    const taken = [];
    for (let n = 0; n < times; n++) {
      const at = performance.now();
      await action(n);
      taken.push(performance.now() - at);
    }
    taken.sort((left, right) => left - right);
    results[what] = taken[times >> 1];
  };
  const runs = [];
  await each("enqueue", async () => {
    const run = `run_${randomUUID()}`;
    runs.push(run);
    await journal.enqueue({ run, tenant: "tenant-1", session: undefined, request });
  });
  const claims = [];
  await each("claim", async () => claims.push(...(await journal.claim("w", 1))));
  await each("append", async (n) => {
    const { ownership } = claims[n];
    const event = { type: "text.delta", round: 1, text: "x", run: ownership.run, seq: ownership.head + 1, at: 0 };
    await journal.append([{ ownership, events: [event] }]);
    ownership.head += 1;
  });
  await each("read", (n) => journal.read(runs[n], 0, 100));
  await each("get", (n) => journal.get(runs[n]));
  await each("list, newest 50", () => journal.list({ limit: 50 }));
  await each("list of a tenant", () => journal.list({ tenant: "tenant-7", limit: 50 }));
  await each("list of a session", () => journal.list({ tenant: "tenant-7", session: "session-7", limit: 50 }));
  await each("list of failed", () => journal.list({ outcome: "failed", limit: 50 }));
  await each("list of running", () => journal.list({ state: "running", limit: 50 }));
  await each("claim of nothing", () => journal.claim("w", 1));
  const usage = {};
  const timing = {};
  await each("end", async (n) => {
    const { ownership } = claims[n];
    const event = {
      type: "run.finished",
      finish: "stop",
      output: "",
      usage,
      rounds: 1,
      timing,
      run: ownership.run,
      seq: ownership.head + 1,
      at: 0,
    };
    await journal.append([{ ownership, events: [event], state: "done" }]);
  });
  return results;
}
