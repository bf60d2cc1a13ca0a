import { VenturiError } from "../core/errors/errors.ts";
import type { Journal } from "../core/journal/journal.ts";
import { encodeEvent } from "../core/run/encode-event.ts";
import type { RunEvent } from "../core/run/events.ts";
import { mayBeCut } from "../core/run/page.ts";
import type { Heading } from "./archive.ts";
import { notesOf } from "./notes.ts";

const page = 500;

/** A run as JSON lines, each including its line break. */
export async function* exportRun(journal: Journal, run: string): AsyncGenerator<string> {
  const row = await journal.get(run);
  if (row === undefined) throw new VenturiError("journal.export", "not_found", `there is no run ${run}`);
  const heading: Heading = {
    venturi: "run",
    version: 1,
    run,
    tenant: row.tenant,
    ...(row.session === undefined ? {} : { session: row.session }),
    createdAt: row.createdAt,
    request: row.request,
  };
  yield `${JSON.stringify(heading)}\n`;
  for (const signal of await journal.signals(run, 0)) yield `${JSON.stringify({ signal })}\n`;
  const { feedback } = await notesOf(journal, row);
  if (feedback.length > 0) yield `${JSON.stringify({ notes: { feedback } })}\n`;
  for (const { bytes, ...wire } of (await journal.wire?.(run)) ?? []) {
    yield `${JSON.stringify({ wire: { ...wire, bytes: Buffer.from(bytes).toString("base64") } })}\n`;
  }
  for (const hash of (await journal.blobs?.of(run)) ?? []) {
    const bytes = await journal.blobs?.get(hash);
    if (bytes) yield `${JSON.stringify({ blob: { hash, bytes: Buffer.from(bytes).toString("base64") } })}\n`;
  }
  for await (const events of eventsOf(journal, run)) {
    for (const event of events) yield `{"event":${encodeEvent(event)}}\n`;
  }
}

/** All events of a run, page by page. */
export async function* eventsOf(journal: Journal, run: string): AsyncGenerator<readonly RunEvent[]> {
  let after = 0;
  for (;;) {
    const events = await journal.read(run, after, page);
    if (events.length > 0) yield events;
    after += events.length;
    if (events.length < page && !mayBeCut(events)) return;
  }
}
