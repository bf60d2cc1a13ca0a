import { cosine, messageOf, mostVectors } from "venturi/internal";
import type { Log, NoteVector } from "venturi/plugin";
import type { Ask, Database } from "./database.ts";

/** Vectors read at once, so that the process can do other things in between. */
const page = 250;

interface Nearest {
  readonly vector: NoteVector;
  readonly near: number;
  readonly top: number;
}

/** Vectors of notes: stored as bytes and compared in this process, or in the database if it has pgvector. */
export class NoteVectors {
  readonly #database: Database;
  readonly #log: Log;
  /** Schema of the pgvector extension, if installed. */
  #extension: string | undefined;

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#log = log;
  }

  async open(): Promise<void> {
    const op = "memory.open";
    const [found] = await this.#database.query<{ schema: string }>(
      op,
      `SELECT quote_ident(n.nspname) AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
       WHERE e.extname = 'vector'`,
      [],
    );
    if (found === undefined) return;
    try {
      const add = `ALTER TABLE ${this.#notes} ADD COLUMN IF NOT EXISTS embedding ${found.schema}.vector`;
      await this.#database.query(op, add, []);
      this.#extension = found.schema;
      await this.#convert(found.schema);
    } catch (thrown) {
      this.#extension = undefined;
      this.#log.warn("pgvector cannot be used; vectors are compared in the process", { error: messageOf(thrown) });
    }
  }

  async put(ask: Ask, number: string, { model, values }: NoteVector): Promise<void> {
    const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    await ask(`UPDATE ${this.#notes} SET model = $2, bytes = $3 WHERE number = $1`, [number, model, bytes]);
    if (this.#extension === undefined) return;
    const set = `UPDATE ${this.#notes} SET embedding = $2::${this.#extension}.vector WHERE number = $1`;
    await ask(set, [number, textOf(values)]);
  }

  /** Numbers of the nearest notes, best first. */
  async nearest(ask: Ask, places: readonly Buffer[], asked: Nearest): Promise<number[]> {
    const found =
      this.#extension === undefined ? await this.#compared(ask, places, asked) : await this.#asked(ask, places, asked);
    const near = found.filter((each) => each.cosine >= asked.near && each.cosine > 0);
    return near
      .sort((left, right) => right.cosine - left.cosine)
      .slice(0, asked.top)
      .map(({ number }) => number);
  }

  async #asked(ask: Ask, places: readonly Buffer[], { vector, top }: Nearest) {
    const schema = this.#extension;
    const distance = `embedding OPERATOR(${schema}.<=>) $2::${schema}.vector`;
    // Fenced: vectors of different lengths cannot be compared, so the planner must not try.
    const rows = await ask<{ number: string; cosine: number }>(
      `SELECT number, 1 - (${distance}) AS cosine FROM (
         SELECT number, embedding FROM ${this.#notes}
         WHERE place = ANY($1::bytea[]) AND model = $3 AND ${schema}.vector_dims(embedding) = $4 OFFSET 0
       ) n ORDER BY ${distance} LIMIT $5`,
      [places, textOf(vector.values), vector.model, vector.values.length, top],
    );
    return rows.map(({ number, cosine: value }) => ({ number: Number(number), cosine: Number(value) }));
  }

  async #compared(ask: Ask, places: readonly Buffer[], { vector: { model, values } }: Nearest) {
    const found: { number: number; cosine: number }[] = [];
    const sql = `SELECT number, bytes FROM ${this.#notes}
      WHERE place = $1 AND model = $2 AND length(bytes) = $3 AND number < $4 ORDER BY number DESC LIMIT $5`;
    for (const place of places) {
      let before = Number.MAX_SAFE_INTEGER;
      for (let compared = 0; compared < mostVectors; compared += page) {
        const rows = await ask<{ number: string; bytes: Buffer }>(sql, [place, model, values.byteLength, before, page]);
        for (const { number, bytes } of rows) {
          const each = new Float32Array(new Uint8Array(bytes).buffer);
          before = Number(number);
          found.push({ number: before, cosine: cosine(each, values) });
        }
        if (rows.length < page) break;
      }
    }
    return found;
  }

  /** Converts vectors stored before pgvector was installed. */
  async #convert(schema: string): Promise<void> {
    const op = "memory.open";
    const select = `SELECT number, bytes FROM ${this.#notes} WHERE embedding IS NULL AND bytes IS NOT NULL LIMIT $1`;
    const update = `UPDATE ${this.#notes} n SET embedding = v.text::${schema}.vector
      FROM unnest($1::bigint[], $2::text[]) v(number, text) WHERE n.number = v.number`;
    for (;;) {
      const rows = await this.#database.query<{ number: string; bytes: Buffer }>(op, select, [page]);
      if (rows.length === 0) return;
      const texts = rows.map(({ bytes }) => textOf(new Float32Array(new Uint8Array(bytes).buffer)));
      await this.#database.query(op, update, [rows.map(({ number }) => number), texts]);
    }
  }

  get #notes(): string {
    return `${this.#database.schema}.notes`;
  }
}

const textOf = (values: Float32Array): string => `[${values.join(",")}]`;
