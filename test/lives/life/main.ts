import { Documents } from "../../../src/core/ports/documents.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { openHost } from "../../../src/host/open.ts";
import { type Life, requestOf } from "./lives.ts";

/** `CONFIG LIFE KEY`: starts a run or finds it by its key, answers what it asks, prints each event, and what was noted, and ends with it. */
const [configFile = "", life = "", key = ""] = process.argv.slice(2);
const host = await openHost({ configFile, env: {}, log: silentLog });
const { run } = await host.runs.start(requestOf(life as Life), { key }); // one of `lives`, by the parent
process.stdout.write(`run ${run}\n`);
for await (const batch of host.runs.follow(run)) {
  for (const event of batch) {
    process.stdout.write(`${JSON.stringify(event)}\n`);
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
const place = { tenant: "default", scope: "user" as const, owner: "ana", document: "notes" };
const notes = await new Documents(host.journal.keyValues).get(place);
process.stdout.write(`notes ${JSON.stringify(notes?.value ?? null)}\n`);
await host.close();
