// Two replicas over one PostgreSQL. A client streams a run from the first; that one is killed with kill -9 in the middle; the
// client goes on at the second with Last-Event-ID, and the second goes on with the run. Nothing is lost, nothing comes twice.
//   npm run build && node scripts/demo-replicas.mjs
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Replica } from "../dist/test/chaos/replica.js";
import { Cluster } from "../dist/test/plugins/postgres/cluster.js";

const say = (text) => process.stderr.write(`${text}\n`);
const folder = mkdtempSync(join(tmpdir(), "venturi-demo-"));
const effects = join(folder, "effects");
writeFileSync(effects, "");
say("starting PostgreSQL and two replicas …");
const cluster = await Cluster.start("on");
const journal = { type: "postgres", url: cluster.url, schema: "demo", lease: "2s" };
const replicas = [];
for (const name of ["first", "second"]) replicas.push(await Replica.make(name, { folder, effects, journal }));
try {
  await Promise.all(replicas.map((replica) => replica.start()));
  const [first, second] = replicas;
  const started = await fetch(`${first.url}/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({ agent: "shop", input: { text: "a story" } }),
  });
  const { run } = await started.json();
  say(`${run} runs on ${first.url}`);
  const events = [];
  await read(first, (event) => {
    if (event.seq === 40) {
      say(`\nkill -9 ${first.pid} after event ${event.seq}`);
      first.kill();
    }
  });
  const cut = events.length;
  const killed = performance.now();
  say(`the connection is gone after event ${cut}; going on at ${second.url}`);
  await read(second, (event) => {
    if (event.seq === cut + 1)
      say(`event ${event.seq} (${event.type}) after ${Math.round(performance.now() - killed)} ms`);
  });
  const gaps = events.filter((event, index) => event.seq !== index + 1).length;
  const last = events.at(-1);
  const text = events.reduce(
    (sum, event) => (event.type === "round.retracted" ? "" : event.type === "text.delta" ? sum + event.text : sum),
    "",
  );
  const whole = last?.type === "run.finished" && last.output === text;
  process.stdout.write(
    `${JSON.stringify({ events: events.length, before: cut, gaps, retracted: events.filter((event) => event.type === "round.retracted").length, end: last?.type, whole })}\n`,
  );
  process.exitCode = gaps === 0 && whole ? 0 : 1;

  async function read(replica, each) {
    try {
      const headers = { accept: "text/event-stream", "last-event-id": String(events.length) };
      const answer = await fetch(`${replica.url}/v1/runs/${run}/events`, { headers });
      let rest = "";
      const decoder = new TextDecoder();
      for await (const bytes of answer.body) {
        const frames = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
        rest = frames.pop();
        for (const frame of frames) {
          const data = frame.split("\n").find((line) => line.startsWith("data: "));
          if (data === undefined) continue;
          const event = JSON.parse(data.slice(6));
          if (event.type === "heartbeat") continue;
          events.push(event);
          if (event.type === "text.delta") process.stderr.write(event.text);
          if (event.type === "round.retracted") process.stderr.write("↩ ");
          each(event);
        }
      }
      say("");
    } catch {
      // the replica was killed under the client
    }
  }
} finally {
  await Promise.all(replicas.map((replica) => replica.kill()));
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
