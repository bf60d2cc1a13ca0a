import { VenturiError } from "../core/errors/errors.ts";
import type { Journal } from "../core/journal/journal.ts";
import { encodeEvent } from "../core/run/encode-event.ts";
import type { RunEvent } from "../core/run/events.ts";
import { mayBeCut } from "../core/run/page.ts";
import type { Heading } from "./archive.ts";
import { notesOf } from "./notes.ts";

const page = 500;

const op = "journal.export";

/** A run as JSON lines, each including its line break. Of one under way, the events it had at the start: later ones may refer to signals and content that are not in the file. */
export async function* exportRun(journal: Journal, run: string): AsyncGenerator<string> {
  const row = await journal.get(run);
  if (row === undefined) throw new VenturiError(op, "not_found", `there is no run ${run}`);
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
  for await (const events of eventsOf(journal, run, row.head)) {
    for (const event of events) yield `{"event":${encodeEvent(event)}}\n`;
  }
  if ((await journal.get(run)) === undefined)
    throw new VenturiError(
      op,
      "not_found",
      `the run ${run} was removed while it was exported; what was written is not all of it`,
    );
}

/** All events of a run, or those up to a seq, page by page. */
export async function* eventsOf(
  journal: Journal,
  run: string,
  upTo = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly RunEvent[]> {
  let after = 0;
  while (after < upTo) {
    const events = await journal.read(run, after, Math.min(page, upTo - after));
    if (events.length > 0) yield events;
    after += events.length;
    if (events.length < page && !mayBeCut(events)) return;
  }
}
