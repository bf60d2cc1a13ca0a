import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { NoteRow } from "venturi/internal";

export interface Place {
  readonly tenant: string;
  readonly scope: string;
  readonly owner: string;
}

interface StoredNote extends NoteRow {
  readonly number: number;
}

export interface Put {
  readonly place: Place;
  readonly note: Omit<StoredNote, "number" | "scope" | "owner">;
  /** Words of the text, letters and digits only. */
  readonly terms: readonly string[];
  readonly vector: { readonly model: string; readonly values: Float32Array } | undefined;
  readonly most: number;
  readonly existing: "keep" | "replace";
}

export interface Nearest {
  readonly model: string;
  readonly values: Float32Array;
  readonly near: number;
  /** Maximum vectors compared per place, newest first, and maximum results. */
  readonly compared: number;
  readonly top: number;
}

export type Erased = (Place & { readonly id?: string }) | { readonly tenant: string; readonly run: string };

const version = 1;

/** One index for all: a note's place is indexed as a word that no text can contain, so that a search reads nothing of other places. */
const schema = `
  CREATE TABLE places (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL, scope TEXT NOT NULL, owner TEXT NOT NULL,
    UNIQUE (tenant, scope, owner)
  ) STRICT;
  CREATE TABLE notes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    place INTEGER NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, at REAL NOT NULL,
    "by" TEXT, agent TEXT, run TEXT,
    UNIQUE (place, id)
  ) STRICT;
  CREATE INDEX notes_of_run ON notes (run) WHERE run IS NOT NULL;
  CREATE TABLE vectors (
    number INTEGER PRIMARY KEY, place INTEGER NOT NULL, model TEXT NOT NULL, bytes BLOB NOT NULL
  ) STRICT;
  CREATE INDEX vectors_of_place ON vectors (place, model, number);
  CREATE VIRTUAL TABLE words USING fts5(terms, detail = none, tokenize = "ascii tokenchars '_'");
  INSERT INTO words(words, rank) VALUES ('secure-delete', 1);
`;

const columns = `n.number, n.id, p.scope, p.owner, n.text, n.at, n."by", n.agent, n.run`;

/** The tables, in the thread that has the connection. */
export class Store {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(file: string, busyTimeout: number) {
    this.#database = new DatabaseSync(file, { timeout: busyTimeout });
    // Overwrites erased text, which would otherwise stay in free pages.
    this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON");
    this.#inTransaction(() => this.#migrate());
  }

  put({ place, note, terms, vector, most, existing }: Put): "added" | "replaced" | "kept" | "full" {
    return this.#inTransaction(() => {
      const known = this.#placeOf(place);
      const before =
        known === undefined
          ? undefined
          : this.#one("SELECT number FROM notes WHERE place = ? AND id = ?", known, note.id);
      if (before !== undefined && existing === "keep") return "kept";
      if (before === undefined && known !== undefined && this.#count(known) >= most) return "full";
      const of =
        known ??
        Number(
          this.#run(
            "INSERT INTO places (tenant, scope, owner) VALUES (?, ?, ?)",
            place.tenant,
            place.scope,
            place.owner,
          ).lastInsertRowid,
        );
      if (before !== undefined) this.#remove(Number(before.number));
      const { id, text, at, by, agent, run } = note;
      const put = `INSERT INTO notes (place, id, text, at, "by", agent, run) VALUES (?, ?, ?, ?, ?, ?, ?)`;
      const number = Number(this.#run(put, of, id, text, at, by, agent, run).lastInsertRowid);
      this.#run("INSERT INTO words (rowid, terms) VALUES (?, ?)", number, `_${of} ${terms.join(" ")}`);
      if (vector !== undefined) {
        const bytes = new Uint8Array(vector.values.buffer, vector.values.byteOffset, vector.values.byteLength);
        this.#run(
          "INSERT INTO vectors (number, place, model, bytes) VALUES (?, ?, ?, ?)",
          number,
          of,
          vector.model,
          bytes,
        );
      }
      return before === undefined ? "added" : "replaced";
    });
  }

  /** Numbers of the newest notes of these places that contain each word, and the total number of notes. */
  withTerms(places: readonly Place[], terms: readonly string[], most: number): { notes: number; found: number[][] } {
    const known = this.#placesOf(places);
    const find = this.#prepared("SELECT rowid AS number FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?");
    const found = terms.map((term) =>
      known.flatMap((place) => find.all(`"_${place}" AND "${term}"`, most).map(({ number }) => Number(number))),
    );
    return { notes: known.reduce((sum, place) => sum + this.#count(place), 0), found };
  }

  notes(numbers: readonly number[]): StoredNote[] {
    const get = `SELECT ${columns} FROM notes n JOIN places p ON p.number = n.place WHERE n.number = ?`;
    return numbers.flatMap((number) => (this.#one(get, number) as unknown as StoredNote | undefined) ?? []);
  }

  /** Best first. */
  nearest(places: readonly Place[], { model, values, near, compared, top }: Nearest): StoredNote[] {
    const newest = this.#prepared(
      "SELECT number, bytes FROM vectors WHERE place = ? AND model = ? ORDER BY number DESC LIMIT ?",
    );
    const found: { number: number; cosine: number }[] = [];
    for (const place of this.#placesOf(places)) {
      for (const row of newest.iterate(place, model, compared)) {
        const bytes = row.bytes as Uint8Array; // By the column's type.
        if (bytes.byteLength !== values.byteLength) continue;
        const each = new Float32Array(bytes.slice().buffer);
        let cosine = 0;
        for (let index = 0; index < values.length; index++) cosine += (each[index] ?? 0) * (values[index] ?? 0);
        if (cosine >= near && cosine > 0) found.push({ number: Number(row.number), cosine });
      }
    }
    const best = found.sort((left, right) => right.cosine - left.cosine).slice(0, top);
    return this.notes(best.map(({ number }) => number));
  }

  get(place: Place, id: string): StoredNote | undefined {
    const known = this.#placeOf(place);
    const found =
      known === undefined ? undefined : this.#one("SELECT number FROM notes WHERE place = ? AND id = ?", known, id);
    return found === undefined ? undefined : this.notes([Number(found.number)])[0];
  }

  list(place: Place, after: string, limit: number): StoredNote[] {
    const known = this.#placeOf(place);
    if (known === undefined) return [];
    const page = this.#prepared("SELECT number FROM notes WHERE place = ? AND id > ? ORDER BY id LIMIT ?");
    return this.notes(page.all(known, after, limit).map(({ number }) => Number(number)));
  }

  erase(which: Erased): number {
    const erased = this.#inTransaction(() => {
      const numbers = this.#meant(which);
      for (const number of numbers) this.#remove(number);
      if (!("run" in which) && which.id === undefined) {
        const place = this.#placeOf(which);
        if (place !== undefined) this.#run("DELETE FROM places WHERE number = ?", place);
      }
      return numbers.length;
    });
    // Removes erased text from the log too, unless somebody is reading it right now.
    if (erased > 0) this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return erased;
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #meant(which: Erased): number[] {
    if ("run" in which) {
      const ofRun = "SELECT n.number FROM notes n JOIN places p ON p.number = n.place WHERE n.run = ? AND p.tenant = ?";
      return this.#prepared(ofRun)
        .all(which.run, which.tenant)
        .map(({ number }) => Number(number));
    }
    const place = this.#placeOf(which);
    if (place === undefined) return [];
    const found =
      which.id === undefined
        ? this.#prepared("SELECT number FROM notes WHERE place = ?").all(place)
        : this.#prepared("SELECT number FROM notes WHERE place = ? AND id = ?").all(place, which.id);
    return found.map(({ number }) => Number(number));
  }

  #remove(number: number): void {
    this.#run("DELETE FROM words WHERE rowid = ?", number);
    this.#run("DELETE FROM vectors WHERE number = ?", number);
    this.#run("DELETE FROM notes WHERE number = ?", number);
  }

  #placeOf({ tenant, scope, owner }: Place): number | undefined {
    const found = this.#one(
      "SELECT number FROM places WHERE tenant = ? AND scope = ? AND owner = ?",
      tenant,
      scope,
      owner,
    );
    return found === undefined ? undefined : Number(found.number);
  }

  #placesOf(places: readonly Place[]): number[] {
    return places.flatMap((place) => this.#placeOf(place) ?? []);
  }

  #count(place: number): number {
    return Number(this.#one("SELECT count(*) AS notes FROM notes WHERE place = ?", place)?.notes);
  }

  #migrate(): void {
    const found = Number(this.#one("PRAGMA user_version")?.user_version);
    if (found > version) throw new Error("it was written by a newer Venturi; update Venturi");
    if (found === version) return;
    if (this.#one("SELECT 1 FROM sqlite_master LIMIT 1") !== undefined)
      throw new Error("it is a database of something else; choose another path");
    this.#database.exec(`${schema}; PRAGMA user_version = ${version}`);
  }

  #inTransaction<T>(work: () => T): T {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const value = work();
      this.#database.exec("COMMIT");
      return value;
    } catch (thrown) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw thrown;
    }
  }

  #run(sql: string, ...values: (string | number | null | Uint8Array)[]) {
    return this.#prepared(sql).run(...values);
  }

  #one(sql: string, ...values: (string | number)[]) {
    return this.#prepared(sql).get(...values);
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}
