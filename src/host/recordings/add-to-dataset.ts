import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { VenturiError } from "../../core/errors/errors.ts";
import { recordingsOf } from "../../evals/dataset/cases.ts";
import { name } from "../../evals/dataset/schema.ts";
import type { Recordings } from "./recordings.ts";
import { redactedExport } from "./redacted-export.ts";
import { sourceOf } from "./run-source.ts";

const op = "dataset.add";

export interface DatasetItem {
  readonly run: string;
  readonly note?: string | undefined;
  /** Name of the item; default: the run's id. */
  readonly id?: string | undefined;
  /** Stores only a reference without a copy; the run must stay in the journal. */
  readonly link?: boolean | undefined;
}

/** Where items go, and what is masked in their copies besides keys and personal data. */
export interface DatasetTarget {
  /** A file of JSON lines. */
  readonly to: string;
  readonly redact: readonly string[];
}

/** Adds an ended run to a set, by default with a redacted copy of it and its conversation. Returns the file of the copy. */
export async function addToDataset(
  recordings: Recordings,
  { to, redact }: DatasetTarget,
  { run, note, id, link }: DatasetItem,
): Promise<string | undefined> {
  if (![".jsonl", ".ndjson"].includes(extname(to)))
    throw new VenturiError(op, "invalid_input", `${to} is not a file of JSON lines (.jsonl)`);
  const named = name.safeParse(id ?? run);
  if (!named.success)
    throw new VenturiError(
      op,
      "invalid_input",
      `an item cannot have the id "${id ?? run}": ${named.error.issues[0]?.message}`,
    );
  const row = await recordings.row(run);
  if (row.state !== "done") throw new VenturiError(op, "conflict", `the run ${run} has not ended`);
  const more = { ...(id === undefined ? {} : { id }), ...(note === undefined ? {} : { note }) };
  await mustBeNew(to, run, id);
  if (link) {
    await append(to, { run, ...more });
    return undefined;
  }
  const folder = `${basename(to, extname(to))}.runs`;
  const file = join(dirname(to), folder, `${run}.jsonl`);
  const texts = await recordingsOf(row, sourceOf(recordings));
  const clean = texts.map((text) => redactedExport(text, redact));
  const heading = { venturi: "dataset-run", config: row.digest?.config ?? "unknown", runs: texts.length };
  await writing(file, async () => {
    await mkdir(dirname(file), { recursive: true });
    // A crash before the line below leaves a copy that no item refers to; it is written again.
    await writeFile(file, `${JSON.stringify(heading)}\n${clean.join("")}`);
  });
  await append(to, { file: `${folder}/${run}.jsonl`, ...more });
  return file;
}

/** Refuses an item that is already in the set, which would make the whole set invalid. */
async function mustBeNew(to: string, run: string, id = run): Promise<void> {
  const text = await readFile(to, "utf8").catch(() => "");
  for (const line of text.split("\n")) {
    const item = itemIn(line);
    if (item.run === run) throw new VenturiError(op, "conflict", `the run ${run} is in ${basename(to)} already`);
    if ((item.id ?? item.run) === id)
      throw new VenturiError(op, "conflict", `${basename(to)} has an item with the id ${id} already`);
  }
}

function itemIn(line: string): { readonly id?: string; readonly run?: string } {
  try {
    const { id, run, file } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    const named = typeof file === "string" ? basename(file, ".jsonl") : run;
    return { ...(typeof id === "string" ? { id } : {}), ...(typeof named === "string" ? { run: named } : {}) };
  } catch {
    return {}; // A broken line is reported where the set is read.
  }
}

async function append(to: string, item: object): Promise<void> {
  await writing(to, async () => {
    await mkdir(dirname(to), { recursive: true });
    const text = await readFile(to, "utf8").catch(() => "");
    const separator = text === "" || text.endsWith("\n") ? "" : "\n";
    await appendFile(to, `${separator}${JSON.stringify(item)}\n`);
  });
}

async function writing(file: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (cause) {
    // By its name only: callers of the API do not learn where the folder is, which the system's words tell.
    const { code = "unknown" } = cause as NodeJS.ErrnoException;
    throw new VenturiError(op, "unavailable", `${basename(file)} cannot be written (${code})`, { cause });
  }
}
