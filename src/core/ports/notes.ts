import { createHash } from "node:crypto";
import { VenturiError, wrap } from "../errors/errors.ts";
import type { Embeddings } from "../model/provider.ts";
import type { Usage } from "../model/usage.ts";
import { token } from "../values/token.ts";
import type { Clock } from "./clock.ts";
import type { ErasedNotes, FoundNote, MemoryStore, Note, NotePage, NoteVector, PutOutcome } from "./memory.ts";
import type { MemoryPlace } from "./memory-owners.ts";
import type { Registry } from "./registries.ts";

/** Computes vectors of texts. */
export interface Embedder {
  /** `provider/model`. */
  readonly model: string;
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embeddings & { readonly cost?: number }>;
}

export interface NoteBounds {
  /** Maximum characters of a text. */
  readonly longest: number;
  /** Maximum notes per owner. */
  readonly most: number;
  /** Minimum cosine similarity for a match. */
  readonly near: number;
  /** How long a put or a search may take, ms. */
  readonly timeout: number;
}

/** Usage of the embedding. */
export interface Embedded {
  readonly model?: string;
  readonly usage?: Usage;
  readonly cost?: number;
  /** Why there is no vector; only words were stored or compared. */
  readonly error?: VenturiError;
}

export interface NoteQuery {
  readonly places: readonly MemoryPlace[];
  readonly text: string;
  readonly top: number;
  /** The run that asks. */
  readonly run?: string;
  readonly traceparent?: string | undefined;
  readonly signal?: AbortSignal;
}

export interface PutOptions {
  readonly existing: "keep" | "replace";
  readonly signal?: AbortSignal;
  readonly traceparent?: string | undefined;
}

export type NewNote = Pick<Note, "id" | "text" | "at" | "by" | "agent" | "run">;

/** Maximum results per search. */
export const mostFound = 50;
/** Maximum characters used of a query. */
export const longestQuery = 2_000;
/** Maximum characters of an owner's name. */
const longestOwner = 1_024;
const noteId = /^[A-Za-z0-9._:-]{1,128}$/;

/** Notes of one store: enforces its limits and adds vectors if it has an embedding model. */
export class Notes {
  readonly name: string;
  readonly bounds: NoteBounds;
  readonly #store: MemoryStore;
  readonly #embedder: Embedder | undefined;
  readonly #clock: Clock;

  constructor(
    name: string,
    store: MemoryStore,
    deps: { readonly bounds: NoteBounds; readonly clock: Clock; readonly embedder?: Embedder },
  ) {
    this.name = name;
    this.bounds = deps.bounds;
    this.#store = store;
    this.#embedder = deps.embedder;
    this.#clock = deps.clock;
  }

  /** `keep`: an existing note with this id stays unchanged. */
  async put(
    { tenant, scope, owner }: MemoryPlace,
    { text, ...note }: NewNote,
    { existing, signal, traceparent }: PutOptions,
  ): Promise<Embedded & { readonly outcome: Exclude<PutOutcome, "full"> }> {
    const op = "memory.put";
    const { longest, most } = this.bounds;
    mustBeId(op, note.id);
    mustBeOwner(op, owner);
    const kept = storable(text);
    if (kept.trim() === "") throw new VenturiError(op, "invalid_input", "there is no text to remember");
    if (kept.length > longest) {
      const message = `the text has ${kept.length} characters, and ${longest} are allowed; keep what matters of it`;
      throw new VenturiError(op, "too_large", message, { details: { longest } });
    }
    return this.#inTime(op, signal, async (until) => {
      const { vector, ...embedded } = await this.#vectorOf(kept, until);
      const given = { ...note, scope, owner, text: kept };
      const outcome = await this.#store.put({ tenant, note: given, most, existing, ...within(traceparent), ...vector });
      if (outcome !== "full") return { ...embedded, outcome };
      const message = `${this.name} has ${most} notes of ${scope} ${owner}, the most it may have; erase some first`;
      throw new VenturiError(op, "too_large", message, { details: { most } });
    });
  }

  /** Best first. An empty query finds nothing. */
  async search({
    places,
    text,
    top,
    run,
    traceparent,
    signal,
  }: NoteQuery): Promise<Embedded & { readonly notes: readonly FoundNote[] }> {
    const op = "memory.search";
    const asked = storable(text).slice(0, longestQuery).toWellFormed();
    if (places.length === 0 || asked.trim() === "") return { notes: [] };
    return this.#inTime(op, signal, async (until) => {
      const { vector, ...embedded } = await this.#vectorOf(asked, until);
      const { near } = this.bounds;
      const whose = { ...within(traceparent), ...(run === undefined ? {} : { run }) };
      const most = Math.min(top, mostFound);
      const found = await this.#store.search({ places, text: asked, top: most, near, ...whose, ...vector });
      return { ...embedded, notes: found };
    });
  }

  get(place: MemoryPlace, id: string): Promise<Note | undefined> {
    mustBeId("memory.read", id);
    return this.#inTime("memory.read", undefined, () => this.#store.get(place, id));
  }

  list(place: MemoryPlace, page: NotePage): Promise<readonly Note[]> {
    return this.#inTime("memory.read", undefined, () => this.#store.list(place, page));
  }

  erase(which: ErasedNotes): Promise<number> {
    return this.#inTime("memory.remove", undefined, () => this.#store.erase(which));
  }

  /** If the model fails, the note is stored without a vector. */
  async #vectorOf(text: string, signal: AbortSignal): Promise<Embedded & { vector?: { vector: NoteVector } }> {
    const embedder = this.#embedder;
    if (embedder === undefined) return {};
    const { model } = embedder;
    try {
      const { vectors, usage, cost } = await embedder.embed([text], signal);
      const values = unit(vectors[0] ?? []);
      const spent = { model, usage, ...(cost === undefined ? {} : { cost }) };
      return values === undefined ? spent : { ...spent, vector: { vector: { model, values } } };
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      return { model, error: wrap("provider.embed", thrown) };
    }
  }

  async #inTime<T>(op: string, signal: AbortSignal | undefined, work: (until: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const forget = this.#clock.after(this.bounds.timeout, () => late.abort());
    const until = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    let stop = () => {};
    const stopped = new Promise<never>((_, reject) => {
      const abort = () => {
        const message = `the memory ${this.name} did not answer within ${this.bounds.timeout} ms`;
        reject(
          late.signal.aborted && signal?.aborted !== true ? new VenturiError(op, "timeout", message) : until.reason,
        );
      };
      if (until.aborted) return abort();
      until.addEventListener("abort", abort, { once: true });
      stop = () => until.removeEventListener("abort", abort);
    });
    try {
      return await Promise.race([work(until), stopped]);
    } catch (thrown) {
      throw VenturiError.isInstance(thrown) ? thrown : wrap(op, thrown, "unavailable");
    } finally {
      forget();
      stop();
    }
  }
}

/** Id of the note that a call stores; the same when the call is repeated. */
export const noteOfCall = (idempotencyKey: string): string =>
  createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 32);

const within = (traceparent: string | undefined): { traceparent?: string } =>
  traceparent === undefined ? {} : { traceparent };

/** Some stores reject NUL characters and lone surrogates. */
const storable = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd");

function mustBeId(op: string, id: string): void {
  if (noteId.test(id)) return;
  throw new VenturiError(op, "invalid_input", "the id of a note has 1 to 128 letters, digits, and . _ : -");
}

function mustBeOwner(op: string, owner: string): void {
  if (owner.length <= longestOwner && owner.isWellFormed() && !owner.includes("\0")) return;
  throw new VenturiError(
    op,
    "invalid_input",
    `the owner's name has at most ${longestOwner} characters, and no zero bytes`,
  );
}

/** Scales to unit length; undefined for a zero vector. */
function unit(vector: readonly number[]): Float32Array | undefined {
  const length = Math.hypot(...vector);
  return Number.isFinite(length) && length > 0 ? Float32Array.from(vector, (value) => value / length) : undefined;
}

/** Note stores by entry of `memories`. */
export type MemoryRegistry = Registry<Notes>;
export const MemoryRegistry = token<MemoryRegistry>("MemoryRegistry");
