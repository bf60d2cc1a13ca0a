import { z } from "zod";
import { MemoryScope } from "../run/memory-events.ts";
import type { MemoryPlace } from "./memory-owners.ts";

/** A text kept for later, and who stored it. */
export const Note = z.strictObject({
  /** Unique per owner; chosen by the writer, so that a repeated put is recognised. */
  id: z.string(),
  scope: MemoryScope,
  /** The session, user or agent. */
  owner: z.string(),
  text: z.string(),
  at: z.number(),
  /** Id of the API key that stored it, or that started the run that did. */
  by: z.string().exactOptional(),
  agent: z.string().exactOptional(),
  run: z.string().exactOptional(),
});
export type Note = z.output<typeof Note>;

/** Only vectors of the same model and length are compared. */
export interface NoteVector {
  readonly model: string;
  /** Unit length. */
  readonly values: Float32Array;
}

export interface PutNote {
  readonly tenant: string;
  readonly note: Note;
  readonly vector?: NoteVector;
  /** Maximum notes per owner. */
  readonly most: number;
  /** `keep`: an existing note with this id stays unchanged. */
  readonly existing: "keep" | "replace";
  /** W3C trace context of the calling tool. */
  readonly traceparent?: string;
}

/** `full`: the owner has `most` notes; nothing was stored. */
export type PutOutcome = "added" | "replaced" | "kept" | "full";

export interface NoteSearch {
  /** Only these places are searched; notes elsewhere must not affect the result or its order. */
  readonly places: readonly MemoryPlace[];
  readonly text: string;
  readonly vector?: NoteVector;
  /** Minimum cosine similarity for a match. */
  readonly near: number;
  readonly top: number;
  /** The run that asks, for traces. */
  readonly run?: string;
  /** W3C trace context of the calling tool. */
  readonly traceparent?: string;
}

/** Higher scores are better; only comparable within one search. */
export interface FoundNote extends Note {
  readonly score: number;
}

export interface NotePage {
  readonly limit: number;
  /** Id of the last note of the previous page. */
  readonly after?: string;
}

/** A whole place, one of its notes, or everything a run stored. */
export type ErasedNotes = (MemoryPlace & { readonly id?: string }) | { readonly tenant: string; readonly run: string };

/** A store of notes. Throws VenturiErrors with code `unavailable`, or `record_invalid` if repeating does not help. */
export interface MemoryStore {
  /** Durable when it resolves. A put with the same id takes effect once, however often and by however many replicas it is repeated. */
  put(asked: PutNote): Promise<PutOutcome>;
  /** Best first. */
  search(asked: NoteSearch): Promise<readonly FoundNote[]>;
  get(place: MemoryPlace, id: string): Promise<Note | undefined>;
  /** Ordered by id. */
  list(place: MemoryPlace, page: NotePage): Promise<readonly Note[]>;
  /** Returns how many were erased. */
  erase(which: ErasedNotes): Promise<number>;
}
