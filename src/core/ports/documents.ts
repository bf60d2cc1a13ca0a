import { createHash } from "node:crypto";
import { z } from "zod";
import { VenturiError } from "../errors/errors.ts";
import type { KeyValue, KeyValues } from "../journal/key-values.ts";
import { MemoryScope, PatchOperation } from "../run/memory-events.ts";

/** A document of working memory as a tool offers it: one for each session, user or agent. */
export interface MemoryDocument {
  readonly name: string;
  readonly scope: MemoryScope;
  /** JSON Schema of the value. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly description?: string;
  /** Largest value, characters of JSON. */
  readonly most: number;
}

/** Whose document. `owner`: the session, the user or the agent. */
export interface DocumentPlace {
  readonly tenant: string;
  readonly scope: MemoryScope;
  readonly owner: string;
  readonly document: string;
}

const Change = z.strictObject({
  version: z.number().int(),
  at: z.number(),
  /** Id of the key that changed it, or that started the run that did. */
  by: z.string().exactOptional(),
  /** The agent, the run and its call. */
  agent: z.string().exactOptional(),
  run: z.string().exactOptional(),
  call: z.string().exactOptional(),
  why: z.string().exactOptional(),
  /** Absent when the whole value was replaced, or when the patch is too long to be kept. */
  patch: z.array(PatchOperation).exactOptional(),
});
export type DocumentChange = z.output<typeof Change>;

export const StoredDocument = z.strictObject({
  document: z.string(),
  scope: MemoryScope,
  owner: z.string(),
  /** From 1; a document that was never written has 0. */
  version: z.number().int(),
  value: z.unknown(),
  /** The newest ones, oldest first. */
  changes: z.array(Change),
});
export type StoredDocument = z.output<typeof StoredDocument>;

export interface ChangeRequest {
  /** The value after the change. Throws to refuse it. Called again when somebody else was faster. */
  next(before: StoredDocument | undefined): unknown;
  readonly change: Omit<DocumentChange, "version">;
  /** The version that is changed, if it has to be a certain one. */
  readonly version?: number;
}

const op = "memory.change";
const space = "memory";
const mostChanges = 50;
/** Of a patch that is kept with the change, and of all changes together, characters. */
const longestPatch = 4_000;
const longestChanges = 64_000;
const tries = 20;

/** Documents of working memory, beside the journal. A change is a compare-and-set, so that replicas never lose one. */
export class Documents {
  readonly #values: KeyValues;

  constructor(values: KeyValues | undefined) {
    if (values === undefined) throw new VenturiError(op, "unavailable", "this journal cannot keep documents");
    this.#values = values;
  }

  async get(place: DocumentPlace): Promise<StoredDocument | undefined> {
    const found = await this.#values.get(space, keyOf(place));
    return found && read(found);
  }

  /** The document after the change. One that the same call of the same run has made before is not made again. */
  async change(place: DocumentPlace, { next, change, version }: ChangeRequest): Promise<StoredDocument> {
    const { document, scope, owner } = place;
    const key = keyOf(place);
    for (let round = 0; round < tries; round++) {
      const found = await this.#values.get(space, key);
      const before = found && read(found);
      const known = before?.changes.find(
        ({ run, call }) => change.run !== undefined && run === change.run && call === change.call,
      );
      if (before !== undefined && known !== undefined) return { ...before, version: known.version };
      if (version !== undefined && version !== (before?.version ?? 0)) throw changed(before?.version ?? 0);
      const value = next(before);
      const number = (before?.version ?? 0) + 1;
      const changes = kept([...(before?.changes ?? []), { version: number, ...change }]);
      const after: StoredDocument = { document, scope, owner, version: number, value, changes };
      const entry = { key, value: JSON.stringify(after), version: found?.version ?? 0 };
      if ((await this.#values.put(space, entry)) !== undefined) return after;
    }
    throw new VenturiError(
      op,
      "conflict",
      `${document} of ${scope} ${owner} is changed too often at this time; try again`,
    );
  }

  /** Documents of one owner, or of all in that scope. */
  async *all(
    place: Pick<DocumentPlace, "tenant" | "scope"> & { readonly owner?: string },
  ): AsyncGenerator<StoredDocument> {
    const prefix = prefixOf(place);
    let after = "";
    for (;;) {
      const page = await this.#values.list(space, { prefix, after });
      for (const found of page) {
        const document = read(found);
        if (place.owner === undefined || document.owner === place.owner) yield document;
      }
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.key;
    }
  }

  /** How many there were. */
  async remove(place: Omit<DocumentPlace, "document"> & { readonly document?: string }): Promise<number> {
    let removed = 0;
    for await (const { document } of this.all(place)) {
      if (place.document !== undefined && document !== place.document) continue;
      removed += (await this.#remove(keyOf({ ...place, document }))) ? 1 : 0;
    }
    return removed;
  }

  async #remove(key: string): Promise<boolean> {
    for (let round = 0; round < tries; round++) {
      const found = await this.#values.get(space, key);
      if (found === undefined) return false;
      if (await this.#values.remove(space, key, found.version)) return true;
    }
    throw new VenturiError("memory.remove", "conflict", "the document is changed at this time; try again");
  }
}

const changed = (version: number): VenturiError =>
  new VenturiError(op, "conflict", `the document has been changed; its version is ${version}`, {
    details: { version },
  });

/** Without the oldest ones and the longest patches, so that a value never outgrows its key. */
function kept(changes: readonly DocumentChange[]): DocumentChange[] {
  const newest = changes.slice(-mostChanges).map((change) => {
    if (change.patch === undefined || JSON.stringify(change.patch).length <= longestPatch) return change;
    const { patch: _, ...rest } = change;
    return rest;
  });
  while (newest.length > 1 && JSON.stringify(newest).length > longestChanges) newest.shift();
  return newest;
}

function read({ value }: KeyValue): StoredDocument {
  const parsed = StoredDocument.safeParse(JSON.parse(value));
  if (parsed.success) return parsed.data;
  throw new VenturiError("memory.read", "record_invalid", "a document of working memory cannot be read");
}

const keyOf = (place: DocumentPlace): string => `${prefixOf(place)}${part(place.document)}`;

const prefixOf = ({ tenant, scope, owner }: { tenant: string; scope: MemoryScope; owner?: string }): string =>
  `${part(tenant)}/${scope}/${owner === undefined ? "" : `${part(owner)}/`}`;

/** Keys have 512 characters: a long name is its hash. An encoded one never begins with `!`. */
function part(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll("!", "%21");
  return encoded.length <= 128 ? encoded : `!${createHash("sha256").update(name).digest("hex")}`;
}
