import { createHash } from "node:crypto";
import { z } from "zod";
import { VenturiError } from "../errors/errors.ts";
import type { KeyValue, KeyValues } from "../journal/key-values.ts";
import { MemoryScope, PatchOperation } from "../run/memory-events.ts";

/** A working memory document offered by a tool: one per session, user or agent. */
export interface MemoryDocument {
  readonly name: string;
  readonly scope: MemoryScope;
  /** JSON Schema of the value. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly description?: string;
  /** Maximum size as JSON, characters. */
  readonly most: number;
}

/** Identifies a document. `owner`: the session, user or agent. */
export interface DocumentPlace {
  readonly tenant: string;
  readonly scope: MemoryScope;
  readonly owner: string;
  readonly document: string;
}

const Change = z.strictObject({
  version: z.number().int(),
  at: z.number(),
  /** Id of the API key that changed it, or that started the run that did. */
  by: z.string().exactOptional(),
  /** The agent, run and call that made the change. */
  agent: z.string().exactOptional(),
  run: z.string().exactOptional(),
  call: z.string().exactOptional(),
  why: z.string().exactOptional(),
  /** Absent when the whole value was replaced or the patch is too long to keep. */
  patch: z.array(PatchOperation).exactOptional(),
});
export type DocumentChange = z.output<typeof Change>;

export const StoredDocument = z.strictObject({
  document: z.string(),
  scope: MemoryScope,
  owner: z.string(),
  /** From 1; 0 for a document that was never written. */
  version: z.number().int(),
  value: z.unknown(),
  /** The most recent changes, oldest first. */
  changes: z.array(Change),
});
export type StoredDocument = z.output<typeof StoredDocument>;

export interface ChangeRequest {
  /** Computes the new value; throws to refuse. Called again if another write came first. */
  next(before: StoredDocument | undefined): unknown;
  readonly change: Omit<DocumentChange, "version">;
  /** Required current version, if any. */
  readonly version?: number;
}

const op = "memory.change";
const space = "memory";
const mostChanges = 50;
/** Maximum length of a kept patch, and of all changes together, characters. */
const longestPatch = 4_000;
const longestChanges = 64_000;
const tries = 20;

/** Working memory documents, in the journal's key-value store. Changes are compare-and-set, so that replicas never lose one. */
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

  /** The document after the change. A change already made by the same call of the same run is not repeated. */
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

  /** Documents of one owner, or of all owners in the scope. */
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

  /** Returns how many were removed. */
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

/** Drops the oldest changes and the longest patches, so that the value stays within its limit. */
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

const keyOf = (place: DocumentPlace): string => `${prefixOf(place)}${segment(place.document)}`;

const prefixOf = ({ tenant, scope, owner }: { tenant: string; scope: MemoryScope; owner?: string }): string =>
  `${segment(tenant)}/${scope}/${owner === undefined ? "" : `${segment(owner)}/`}`;

/** Keys are limited to 512 characters, so a long name is replaced by its hash. An encoded name never starts with `!`. */
function segment(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll("!", "%21");
  return encoded.length <= 128 ? encoded : `!${createHash("sha256").update(name).digest("hex")}`;
}
