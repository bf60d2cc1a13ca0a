import { createHash } from "node:crypto";
import {
  byWords,
  candidates,
  fused,
  mostFound,
  mostWithTerm,
  type NoteRow,
  noteIn,
  queryTerms,
  termsOf,
} from "venturi/internal";
import {
  type ErasedNotes,
  type FoundNote,
  type Log,
  type MemoryPlace,
  type MemoryStore,
  type Note,
  type NotePage,
  type NoteSearch,
  type PutNote,
  type PutOutcome,
  VenturiError,
} from "venturi/plugin";
import type { Ask, Database } from "./database.ts";
import { NoteVectors } from "./note-vectors.ts";

interface StoredNote extends NoteRow {
  readonly number: string;
}

const columns = `number, id, scope, owner, text, at, "by", agent, run`;

/** Notes in PostgreSQL. A note's words are our own lexemes; an additional one names its place, which no text can contain. */
export class NotesInPostgres implements MemoryStore {
  readonly #database: Database;
  readonly #vectors: NoteVectors;

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#vectors = new NoteVectors(database, log);
  }

  async open(): Promise<void> {
    await this.#failing("memory.open", () => this.#vectors.open());
  }

  put({ tenant, note, vector, most, existing }: PutNote): Promise<PutOutcome> {
    const op = "memory.put";
    const { id, scope, owner, text, at, by = null, agent = null, run = null } = note;
    const place = hashOf({ tenant, scope, owner });
    const words = [...new Set(termsOf(text)), lexemeOf(place)];
    const { notes } = this.#names;
    return this.#failing(op, () =>
      this.#database.transaction(op, async (ask) => {
        // Serialises puts for one owner, so that the limit holds over all replicas.
        await ask("SELECT pg_advisory_xact_lock($1::bigint)", [place.readBigInt64BE().toString()]);
        const [before] = await ask<{ number: string }>(`SELECT number FROM ${notes} WHERE place = $1 AND id = $2`, [
          place,
          id,
        ]);
        if (before !== undefined && existing === "keep") return "kept";
        if (before === undefined && (await this.#count(ask, [place])) >= most) return "full";
        if (before !== undefined) await ask(`DELETE FROM ${notes} WHERE number = $1`, [before.number]);
        const [put] = await ask<{ number: string }>(
          `INSERT INTO ${notes} (place, id, tenant, scope, owner, text, at, "by", agent, run, words)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, array_to_tsvector($11::text[])) RETURNING number`,
          [place, id, tenant, scope, owner, text, at, by, agent, run, words],
        );
        if (vector !== undefined && put !== undefined) await this.#vectors.put(ask, put.number, vector);
        return before === undefined ? "added" : "replaced";
      }),
    );
  }

  search({ places, text, vector, near, top }: NoteSearch): Promise<FoundNote[]> {
    const op = "memory.search";
    const hashes = places.map(hashOf);
    const terms = queryTerms(text);
    return this.#failing(op, async () => {
      if (hashes.length === 0) return [];
      const ask: Ask = (sql, values) => this.#database.query(op, sql, values);
      const lists = [byWords(await this.#candidates(ask, hashes, terms), terms)];
      if (vector !== undefined) {
        const numbers = await this.#vectors.nearest(ask, hashes, { vector, near, top: mostFound });
        lists.push(await this.#notes(ask, hashes, numbers));
      }
      return fused(lists, top);
    });
  }

  get(place: MemoryPlace, id: string): Promise<Note | undefined> {
    const op = "memory.read";
    const sql = `SELECT ${columns} FROM ${this.#names.notes} WHERE place = $1 AND id = $2`;
    return this.#failing(op, async () => {
      const [found] = await this.#database.query<StoredNote>(op, sql, [hashOf(place), id]);
      return found && noteIn(found);
    });
  }

  list(place: MemoryPlace, { limit, after = "" }: NotePage): Promise<Note[]> {
    const op = "memory.read";
    const sql = `SELECT ${columns} FROM ${this.#names.notes} WHERE place = $1 AND id > $2 ORDER BY id LIMIT $3`;
    return this.#failing(op, async () =>
      (await this.#database.query<StoredNote>(op, sql, [hashOf(place), after, limit])).map(noteIn),
    );
  }

  erase(which: ErasedNotes): Promise<number> {
    const op = "memory.remove";
    const erase = `DELETE FROM ${this.#names.notes} WHERE`;
    return this.#failing(op, async () => {
      if ("run" in which) {
        const sql = `${erase} run = $1 AND tenant = $2 RETURNING 1`;
        return (await this.#database.query(op, sql, [which.run, which.tenant])).length;
      }
      const sql = `${erase} place = $1 AND ($2::text IS NULL OR id = $2) RETURNING 1`;
      return (await this.#database.query(op, sql, [hashOf(which), which.id ?? null])).length;
    });
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  get #names(): { readonly notes: string } {
    return { notes: `${this.#database.schema}.notes` };
  }

  async #candidates(ask: Ask, places: readonly Buffer[], terms: readonly string[]): Promise<Note[]> {
    if (terms.length === 0) return [];
    const pairs = places.flatMap((place) => terms.map((term, index) => ({ place, term, index })));
    // The fence keeps the planner from scanning all notes backwards by number.
    const rows = await ask<{ term: number; number: string }>(
      `SELECT a.term, h.number FROM unnest($1::bytea[], $2::text[], $3::int[]) a(place, query, term)
       CROSS JOIN LATERAL (
         SELECT number FROM (
           SELECT number FROM ${this.#names.notes} n WHERE n.place = a.place AND n.words @@ a.query::tsquery OFFSET 0
         ) f ORDER BY number DESC LIMIT $4
       ) h`,
      [
        pairs.map(({ place }) => place),
        pairs.map(({ place, term }) => `'${lexemeOf(place)}' & '${term}'`),
        pairs.map(({ index }) => index),
        mostWithTerm,
      ],
    );
    const found = new Map<string, number[]>(terms.map((term) => [term, []]));
    for (const { term, number } of rows) found.get(terms[term] ?? "")?.push(Number(number));
    const count = await this.#count(ask, places);
    return await this.#notes(
      ask,
      places,
      candidates(terms, count, (term) => found.get(term) ?? []),
    );
  }

  /** The notes with these numbers, in this order. */
  async #notes(ask: Ask, places: readonly Buffer[], numbers: readonly number[]): Promise<Note[]> {
    if (numbers.length === 0) return [];
    const sql = `SELECT ${columns} FROM ${this.#names.notes} WHERE number = ANY($1::bigint[]) AND place = ANY($2::bytea[])`;
    const rows = await ask<StoredNote>(sql, [numbers, places]);
    const found = new Map(rows.map((row) => [Number(row.number), noteIn(row)]));
    return numbers.flatMap((number) => found.get(number) ?? []);
  }

  async #count(ask: Ask, places: readonly Buffer[]): Promise<number> {
    const sql = `SELECT count(*)::int AS notes FROM ${this.#names.notes} WHERE place = ANY($1::bytea[])`;
    return (await ask<{ notes: number }>(sql, [places]))[0]?.notes ?? 0;
  }

  async #failing<T>(op: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      if (!VenturiError.is(thrown, "journal_failed")) throw thrown;
      const { message, details } = thrown;
      const told = message.replace("the journal's database", "the memory's database").replaceAll("journal.", "its ");
      throw new VenturiError(op, "unavailable", told, {
        cause: thrown.cause,
        ...(details === undefined ? {} : { details }),
      });
    }
  }
}

const hashOf = ({ tenant, scope, owner }: MemoryPlace): Buffer =>
  createHash("sha256")
    .update(JSON.stringify([tenant, scope, owner]))
    .digest();

const lexemeOf = (place: Buffer): string => `_${place.toString("hex")}`;
