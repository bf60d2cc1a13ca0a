import type { Note } from "./memory.ts";

/** A note as a database row. */
export interface NoteRow {
  readonly id: string;
  readonly scope: string;
  readonly owner: string;
  readonly text: string;
  readonly at: number;
  readonly by: string | null;
  readonly agent: string | null;
  readonly run: string | null;
}

export function noteIn({ id, scope, owner, text, at, by, agent, run }: NoteRow): Note {
  return {
    id,
    scope: scope as Note["scope"], // Stored from a Note.
    owner,
    text,
    at,
    ...(by === null ? {} : { by }),
    ...(agent === null ? {} : { agent }),
    ...(run === null ? {} : { run }),
  };
}
