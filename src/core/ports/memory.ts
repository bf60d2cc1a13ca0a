import { z } from "zod";
import { MemoryScope } from "../run/memory-events.ts";
import type { MemoryPlace } from "./memory-owners.ts";

/** A text that is kept for later, and who kept it. */
export const Note = z.strictObject({
  /** Unique for its owner; chosen by whoever puts it, so that a repeated put is recognised. */
  id: z.string(),
  scope: MemoryScope,
  /** The session, the user or the agent. */
  owner: z.string(),
  text: z.string(),
  at: z.number(),
  /** Id of the key that put it, or that started the run that did. */
  by: z.string().exactOptional(),
  agent: z.string().exactOptional(),
  run: z.string().exactOptional(),
});
export type Note = z.output<typeof Note>;

/** Only vectors of the same model and length are compared. */
export interface NoteVector {
  readonly model: string;
  /** Of length 1. */
  readonly values: Float32Array;
}

export interface PutNote {
  readonly tenant: string;
  readonly note: Note;
  readonly vector?: NoteVector;
  /** Notes that the owner may have. */
  readonly most: number;
  /** `keep`: a note with this id stays as it is. */
  readonly existing: "keep" | "replace";
  /** W3C trace context of the call that asks. */
  readonly traceparent?: string;
}

/** `full`: the owner has `most` notes, and nothing was stored. */
export type PutOutcome = "added" | "replaced" | "kept" | "full";

export interface NoteSearch {
  /** Nothing of any other place may be found, nor have a part in the order. */
  readonly places: readonly MemoryPlace[];
  readonly text: string;
  readonly vector?: NoteVector;
  /** Least cosine by which a vector counts as near. */
  readonly near: number;
  readonly top: number;
  /** For whom, in traces. */
  readonly run?: string;
  /** W3C trace context of the call that asks. */
  readonly traceparent?: string;
}

/** Higher scores are better; they compare within one search only. */
export interface FoundNote extends Note {
  readonly score: number;
}

export interface NotePage {
  readonly limit: number;
  /** Id of the last note of the page before. */
  readonly after?: string;
}

/** Of a place or of one of its notes, or of all that a run has put. */
export type ErasedNotes = (MemoryPlace & { readonly id?: string }) | { readonly tenant: string; readonly run: string };

/** A store of notes. Errors are VenturiErrors with the code `unavailable`, or `record_invalid` when repeating does not help. */
export interface MemoryStore {
  /** Durable when it resolves. A put with a known id happens once, however often it is repeated and by how many replicas. */
  put(asked: PutNote): Promise<PutOutcome>;
  /** Best first. */
  search(asked: NoteSearch): Promise<readonly FoundNote[]>;
  get(place: MemoryPlace, id: string): Promise<Note | undefined>;
  /** By id. */
  list(place: MemoryPlace, page: NotePage): Promise<readonly Note[]>;
  /** How many there were. */
  erase(which: ErasedNotes): Promise<number>;
}
