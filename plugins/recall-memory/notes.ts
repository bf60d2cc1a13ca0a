import { byWords, cosine, fused, mostVectors, queryTerms } from "venturi/internal";
import type {
  ErasedNotes,
  FoundNote,
  MemoryPlace,
  MemoryStore,
  Note,
  NotePage,
  NoteSearch,
  NoteVector,
  PutNote,
  PutOutcome,
} from "venturi/plugin";

interface Kept {
  readonly note: Note;
  readonly vector: NoteVector | undefined;
}

export class NotesInMemory implements MemoryStore {
  /** By place, then by id; newest last. */
  readonly #places = new Map<string, Map<string, Kept>>();

  async put({ tenant, note, vector, most, existing }: PutNote): Promise<PutOutcome> {
    const key = keyOf({ tenant, ...note });
    const notes = this.#places.get(key) ?? new Map<string, Kept>();
    const isKnown = notes.has(note.id);
    if (isKnown && existing === "keep") return "kept";
    if (!isKnown && notes.size >= most) return "full";
    this.#places.set(key, notes);
    notes.delete(note.id);
    notes.set(note.id, { note, vector });
    return isKnown ? "replaced" : "added";
  }

  async search({ places, text, vector, near, top }: NoteSearch): Promise<FoundNote[]> {
    const found = places.map((place) => [...(this.#places.get(keyOf(place))?.values() ?? [])]);
    const notes = found.flat().map(({ note }) => note);
    const lists = [byWords(notes, queryTerms(text))];
    if (vector !== undefined) lists.push(nearest(found, vector, near));
    return fused(lists, top);
  }

  async get(place: MemoryPlace, id: string): Promise<Note | undefined> {
    return this.#places.get(keyOf(place))?.get(id)?.note;
  }

  async list(place: MemoryPlace, { limit, after = "" }: NotePage): Promise<Note[]> {
    const notes = [...(this.#places.get(keyOf(place))?.values() ?? [])].map(({ note }) => note);
    const sorted = notes.sort((left, right) => (left.id < right.id ? -1 : 1));
    return sorted.filter(({ id }) => id > after).slice(0, limit);
  }

  async erase(which: ErasedNotes): Promise<number> {
    let erased = 0;
    const prefix = "run" in which ? `${JSON.stringify([which.tenant]).slice(0, -1)},` : keyOf(which);
    for (const [key, notes] of this.#places) {
      if ("run" in which ? !key.startsWith(prefix) : key !== prefix) continue;
      for (const [id, { note }] of notes) {
        const isMeant = "run" in which ? note.run === which.run : which.id === undefined || which.id === id;
        if (isMeant && notes.delete(id)) erased += 1;
      }
      if (notes.size === 0) this.#places.delete(key);
    }
    return erased;
  }
}

/** Best first. */
function nearest(places: readonly (readonly Kept[])[], { model, values }: NoteVector, near: number): Note[] {
  const compared = places.flatMap((notes) =>
    notes
      .filter(({ vector }) => vector?.model === model && vector.values.length === values.length)
      .slice(-mostVectors)
      .map(({ note, vector }) => ({ note, cosine: vector === undefined ? 0 : cosine(vector.values, values) })),
  );
  const close = compared.filter((each) => each.cosine >= near && each.cosine > 0);
  return close.sort((left, right) => right.cosine - left.cosine).map(({ note }) => note);
}

const keyOf = ({ tenant, scope, owner }: MemoryPlace): string => JSON.stringify([tenant, scope, owner]);
