import { VenturiError } from "../core/errors/errors.ts";
import type { FilePart } from "../core/model/messages.ts";
import type { Runs } from "../core/ports/runs.ts";
import type { ListQuery } from "../core/run/list-query.ts";
import type { RunRow } from "../core/run/run-row.ts";

/** A file uploaded by a caller, for use in later requests. */
export interface StoredFile {
  readonly run: string;
  readonly name: string;
  readonly mediaType: string;
  readonly purpose: string;
  readonly size: number;
  /** ms since the epoch. */
  readonly created: number;
  readonly expires: number;
}

export interface NewFile {
  readonly name: string;
  /** Derived from the name's extension when absent. */
  readonly mediaType?: string;
  readonly purpose: string;
  readonly bytes: Uint8Array;
  /** How long it is kept, ms; default and maximum 30 days. */
  readonly keep?: number;
}

/** Metadata key that marks runs which are files. */
const mark = "venturi_file";
const month = 30 * 24 * 3600_000;
const own = /^file[-_](run_[0-9a-z]+)$/;
/** Runs searched for files in journals that cannot filter by metadata. */
const mostLookedAt = 1000;

/**
 * Uploaded files. Each is a run without a model call, whose bytes are a blob in the journal: so it belongs to the caller's tenant, survives
 * restarts, and is exported and erased like any run.
 */
export class Files {
  readonly #runs: Runs;

  constructor(runs: Runs) {
    this.#runs = runs;
  }

  /** The run of a file's id; undefined for ids that a vendor issued. */
  static runOf(id: unknown): string | undefined {
    return typeof id === "string" ? own.exec(id)?.[1] : undefined;
  }

  async add({ name, mediaType, purpose, bytes, keep = month }: NewFile): Promise<StoredFile> {
    const [agent] = this.#runs.agents();
    if (agent === undefined) throw new VenturiError(op, "not_found", "there is no agent");
    if (name.length > 512) throw new VenturiError(op, "invalid_input", "a file's name has at most 512 characters");
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
    const type = mediaType ?? typeByName(name) ?? "application/octet-stream";
    const expires = Date.now() + Math.min(keep, month);
    const file: FilePart = { type: "file", mediaType: type, name, data };
    const { run } = await this.#runs.start({
      agent: agent.name,
      input: { messages: [{ role: "user", parts: [file] }] },
      remember: true,
      metadata: { [mark]: true },
      channel: { file: { name, purpose, size: bytes.length, expires } },
    });
    for await (const _ of this.#runs.follow(run, { channel: "files" })); // Ends once the file is stored.
    const stored = fileOf(await this.#runs.get(run)) ?? missing(run);
    await this.#sweep();
    return stored;
  }

  async get(id: string): Promise<StoredFile> {
    return fileOf(await this.#row(id)) ?? missing(id);
  }

  /** Its bytes as base64. */
  async data(id: string): Promise<StoredFile & { readonly data: string }> {
    const row = await this.#row(id);
    const file = fileOf(row) ?? missing(id);
    const part = partOf(row);
    if (part?.data !== undefined) return { ...file, data: part.data };
    const bytes = await this.#runs.content(row.run, part?.hash ?? "");
    return { ...file, data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64") };
  }

  async remove(id: string): Promise<void> {
    await this.#runs.remove((await this.#row(id)).run);
  }

  /** Newest first, without those that have expired. */
  async list(): Promise<StoredFile[]> {
    const now = Date.now();
    return (await this.#all()).filter(({ expires }) => expires > now);
  }

  /** Erases the caller's expired files; called on each upload. */
  async #sweep(): Promise<void> {
    const now = Date.now();
    for (const { run, expires } of await this.#all()) if (expires <= now) await this.#runs.remove(run);
  }

  async #row(id: string): Promise<RunRow> {
    const run = Files.runOf(id) ?? missing(id);
    const row = await this.#runs.get(run).catch((thrown: unknown) => {
      throw VenturiError.is(thrown, "not_found") ? gone(id) : thrown;
    });
    const file = fileOf(row);
    return file === undefined || file.expires <= Date.now() ? missing(id) : row;
  }

  async #all(): Promise<StoredFile[]> {
    try {
      return await this.#found({ metadata: { [mark]: "true" } });
    } catch (thrown) {
      if (!VenturiError.is(thrown, "invalid_input")) throw thrown;
      return await this.#found({});
    }
  }

  async #found(query: ListQuery): Promise<StoredFile[]> {
    const files: StoredFile[] = [];
    let cursor: string | undefined;
    for (let seen = 0; seen < mostLookedAt; seen += 100) {
      const page = await this.#runs.list({ ...query, limit: 100, ...(cursor === undefined ? {} : { cursor }) });
      for (const row of page.runs) {
        const file = fileOf(row);
        if (file !== undefined) files.push(file);
      }
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    return files;
  }
}

const op = "file.get";
const gone = (id: string): VenturiError =>
  new VenturiError(op, "not_found", `No such File object: ${id.slice(0, 200)}`, { details: { param: "id" } });
const missing = (id: string): never => {
  throw gone(id);
};

const partOf = ({ request }: RunRow): FilePart | undefined => {
  const part = request.input.messages?.[0]?.parts[0];
  return part?.type === "file" ? part : undefined;
};

function fileOf(row: RunRow): StoredFile | undefined {
  const noted = row.request.channel?.file as Pick<StoredFile, "name" | "purpose" | "size" | "expires"> | undefined; // Written by `add`.
  const part = partOf(row);
  if (noted === undefined || part === undefined) return undefined;
  return { ...noted, run: row.run, mediaType: part.mediaType, created: row.createdAt };
}

const types: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  json: "application/json",
  jsonl: "application/jsonl",
  xml: "application/xml",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  wav: "audio/wav",
  mp3: "audio/mpeg",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};

/** The media type that a file's name implies. */
const typeByName = (name: string): string | undefined => types[/\.([a-z\d]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ""];

/** Parses an uploaded form: one file and the other fields. */
export async function readForm(
  body: unknown,
  contentType: string | undefined,
): Promise<{ file: Omit<NewFile, "purpose">; fields: ReadonlyMap<string, string> }> {
  const bad = (message: string): VenturiError => new VenturiError("request.parse", "invalid_input", message);
  if (!Buffer.isBuffer(body)) throw bad('send multipart/form-data with a "file"');
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(body), { headers: { "content-type": contentType ?? "" } }).formData();
  } catch (thrown) {
    throw bad(`the form cannot be read: ${thrown instanceof Error ? thrown.message : "unknown"}`);
  }
  const file = form.get("file");
  if (file === null || typeof file === "string") throw bad('the form has no "file"');
  const fields = new Map<string, string>();
  for (const [name, value] of form) if (typeof value === "string") fields.set(name, value);
  const [type = ""] = file.type.split(";", 1);
  // Clients send text/plain for files of unknown type; then the extension is more reliable.
  const isVague = type === "text/plain" && typeByName(file.name) !== undefined;
  const isType = /^[\w.+-]+\/[\w.+-]+$/.test(type) && type !== "application/octet-stream";
  const said = isType && !isVague ? { mediaType: type } : {};
  return { file: { name: file.name, ...said, bytes: new Uint8Array(await file.arrayBuffer()) }, fields };
}

/** Loads the files a request refers to, at most `most` bytes in total, since one request may repeat a file any number of times. */
export class NamedFiles {
  readonly #files: Files;
  readonly #loaded = new Map<string, Promise<StoredFile & { readonly data: string }>>();
  #left: number;

  constructor(runs: Runs, most: number) {
    this.#files = new Files(runs);
    this.#left = most;
  }

  /** Undefined for ids that a vendor issued. */
  async load(id: unknown): Promise<(StoredFile & { readonly data: string }) | undefined> {
    if (typeof id !== "string" || Files.runOf(id) === undefined) return undefined;
    let loading = this.#loaded.get(id);
    if (loading === undefined) {
      const { size } = await this.#files.get(id);
      this.#take(size);
      loading = this.#files.data(id);
      this.#loaded.set(id, loading);
      return await loading;
    }
    const file = await loading;
    this.#take(file.size);
    return file;
  }

  #take(size: number): void {
    this.#left -= size;
    if (this.#left >= 0) return;
    throw new VenturiError(
      "request.parse",
      "too_large",
      "the files of this request are larger than limits.body allows",
    );
  }
}
