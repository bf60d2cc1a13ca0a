import { Documents } from "../../../src/core/ports/documents.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { openHost } from "../../../src/host/open.ts";
import { type Life, requestOf } from "./lives.ts";

/** `CONFIG LIFE KEY`: starts a run or finds it by its key, answers what it asks, prints each event, and what was noted, and ends with it. */
const [configFile = "", life = "", key = ""] = process.argv.slice(2);
const host = await openHost({ configFile, env: {}, log: silentLog });
const ana = { tenant: "default", scope: "user" as const, owner: "ana" };
const memory = host.revision().memories.get("facts");
// Another one in each process: whoever searches again finds something else.
const seed = { id: "seed", text: `tea of process ${process.pid}`, at: Date.now() };
if (life === "recaller") await memory?.put(ana, seed, { existing: "replace" });
const { run } = await host.runs.start(requestOf(life as Life), { key }); // one of `lives`, by the parent
process.stdout.write(`run ${run}\n`);
for await (const batch of host.runs.follow(run)) {
  for (const event of batch) {
    process.stdout.write(`${JSON.stringify(event)}\n`);
    // The same ids each time: what was said before the process was killed is not said twice.
    if (life === "sleeper" && event.type === "run.started") await host.runs.signal(run, "pause", {}, "the-pause");
    if (life === "sleeper" && event.type === "run.paused") await host.runs.signal(run, "resume", {}, "the-resume");
    if (life === "closed" && event.type === "run.started") {
      await host.runs.pauseAgent?.(life);
      process.stdout.write("closed\n");
      setTimeout(() => host.runs.resumeAgent?.(life).catch(() => {}), 200); // its run may have ended by then
    }
    if (event.type === "question.asked") {
      await host.runs.signal(
        run,
        "approve",
        { call: event.call, approved: true, answer: "Monday", by: "ana" },
        "the-answer",
      );
    }
  }
}
const place = { ...ana, document: "notes" };
const notes = await new Documents(host.journal.keyValues).get(place);
if (life === "recaller") {
  const facts = (await memory?.list(ana, { limit: 10 })) ?? [];
  const prompt = await host.runs.prompt?.(run, 2);
  const kept = facts.filter(({ id }) => id !== "seed").map(({ text }) => text);
  process.stdout.write(`facts ${JSON.stringify({ kept, prompt: JSON.stringify(prompt?.messages) })}\n`);
}
process.stdout.write(`notes ${JSON.stringify(notes?.value ?? null)}\n`);
await host.close();
