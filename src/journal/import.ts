import { createHash } from "node:crypto";
import type { z } from "zod";
import { messageOf, VenturiError } from "../core/errors/errors.ts";
import type { Journal } from "../core/journal/journal.ts";
import { isTerminal, type RunEvent } from "../core/run/events.ts";
import { defaultTenant } from "../core/run/run-request.ts";
import { excessOfJson, recordLimits } from "../core/values/value-limits.ts";
import { Heading, Line } from "./archive.ts";
import { changeNotes } from "./notes.ts";

const op = "journal.import";

export interface Imported {
  readonly run: string;
  readonly events: number;
  /** False for a run exported before its end: it is parked and continues only on a signal. */
  readonly ended: boolean;
}

/**
 * Imports a run written by `exportRun`, optionally under another name. Validates everything first, then stores it atomically,
 * so a crash leaves nothing behind.
 */
export async function importRun(journal: Journal, text: string, name?: string): Promise<Imported> {
  const [first = "", ...rest] = text.split("\n").filter((line) => line.trim() !== "");
  const heading = parse(Heading, first, 1);
  const lines = rest.map((line, index) => parse(Line, line, index + 2));
  const run = name ?? heading.run;
  // It becomes part of URLs and of names of files.
  if (!/^[\w.:-]{1,128}$/.test(run))
    throw new VenturiError(
      op,
      "invalid_input",
      `a run cannot be called "${run}": letters, digits, _, ., : and -, at most 128`,
    );
  const events = lines.flatMap((line) => ("event" in line ? [{ ...line.event, run }] : []));
  checkOrder(events);
  const last = events.at(-1);
  const ended = last !== undefined && isTerminal(last);

  // Blobs first: a stored run must have its content. Blobs whose run is never stored are pruned later.
  for (const line of lines) if ("blob" in line) await keepBlob(journal, run, line.blob);
  await journal.restore({
    run,
    tenant: heading.tenant ?? defaultTenant,
    session: heading.session,
    request: heading.request,
    signals: lines.flatMap((line) => ("signal" in line ? [line.signal] : [])),
    wires: lines.flatMap((line) =>
      "wire" in line ? [{ ...line.wire, bytes: Buffer.from(line.wire.bytes, "base64") }] : [],
    ),
    events,
  });
  const feedback = lines.flatMap((line) => ("notes" in line ? line.notes.feedback : []));
  const row = feedback.length === 0 ? undefined : await journal.get(run);
  if (row !== undefined) await changeNotes(journal, row, (notes) => ({ ...notes, feedback }));
  return { run, events: events.length, ended };
}

async function keepBlob(
  journal: Journal,
  run: string,
  { hash, bytes }: { readonly hash: string; readonly bytes: string },
): Promise<void> {
  const content = Buffer.from(bytes, "base64");
  if (createHash("sha256").update(content).digest("hex") !== hash)
    throw new VenturiError(op, "invalid_input", `the content ${hash} is damaged: its hash is another`);
  if (journal.blobs === undefined)
    throw new VenturiError(op, "invalid_input", "the run has large images or files, which this journal cannot keep");
  await journal.blobs.put(run, hash, content);
}

function parse<T extends z.ZodType>(schema: T, line: string, number: number): z.output<T> {
  const excess = excessOfJson(line, { ...recordLimits, size: Number.POSITIVE_INFINITY });
  if (excess !== undefined) throw new VenturiError(op, "invalid_input", `line ${number} ${excess}`);
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new VenturiError(op, "invalid_input", `line ${number} is no JSON: ${messageOf(cause)}`, { cause });
  }
  const parsed = schema.safeParse(value);
  // Return the original value, not the parsed one: its key order must survive.
  if (parsed.success) return value as z.output<T>;
  const [issue] = parsed.error.issues;
  const where = issue === undefined ? "" : ` (${issue.path.join(".") || "the whole line"}: ${issue.message})`;
  throw new VenturiError(op, "invalid_input", `line ${number} is not part of an exported run${where}`);
}

function checkOrder(events: readonly RunEvent[]): void {
  for (const [index, event] of events.entries()) {
    if (event.seq === index + 1 && (!isTerminal(event) || index === events.length - 1)) continue;
    throw new VenturiError(op, "invalid_input", `event ${event.seq} (${event.type}) stands in place ${index + 1}`);
  }
}
