import type { BlobStore } from "venturi/plugin";
import { failed } from "./failures.ts";
import { isFragment, type Write } from "./fragments.ts";
import { type Names, untoken } from "./names.ts";
import { fence } from "./standing.ts";
import { pause, type Store } from "./store.ts";
import { bytesOf, empty, type Stored } from "./stored.ts";
import type { Tails } from "./tails.ts";

export interface BlobsOptions {
  readonly store: Store;
  readonly names: Names;
  readonly tails: Tails;
}

const op = "journal.blob";
/** Protects content just put for a run that is about to be enqueued, ms. */
const grace = 3_600_000;
/** Body of a note whose bytes have been removed. */
const gone = bytesOf("gone");
const isGone = (note: Stored): boolean => note.data.length > 0;

/**
 * Content by hash, in the wires' stream. A note records when it was last put. To remove the bytes, a process must first replace
 * that note by compare-and-set on its sequence, and then removes only older messages: a concurrent put stores them again.
 */
export class Blobs implements BlobStore {
  readonly #options: BlobsOptions;
  readonly #ready: () => Promise<void>;
  #swept = 0;

  constructor(options: BlobsOptions, ready: () => Promise<void>) {
    this.#options = options;
    this.#ready = ready;
  }

  async put(run: string, hash: string, bytes: Uint8Array): Promise<void> {
    await this.#put(run, hash, bytes);
  }

  use(run: string, hash: string): Promise<boolean> {
    return this.#put(run, hash);
  }

  /** False when the content is not stored and no bytes are given. */
  async #put(run: string, hash: string, bytes?: Uint8Array): Promise<boolean> {
    await this.#ready();
    const { store, names } = this.#options;
    const deadline = performance.now() + store.timeout;
    const subject = names.blob("n", hash);
    const uses = [names.blobUse(run, hash), names.blobUser(hash, run)].map((use) => plain(use));
    for (;;) {
      const note = await store.last(op, names.wires, subject);
      const there = note !== undefined && !isGone(note);
      if (!there && bytes === undefined) return false;
      const content =
        there || bytes === undefined ? [] : [{ subject: names.blob("d", hash), headers: "", data: bytes }];
      const touch = { ...plain(subject), fence: fence(note?.seq ?? 0, subject) };
      const ack = await store.writeTogether(op, [touch, ...content, ...uses]);
      if (ack.kind === "stored") return true;
      if (performance.now() > deadline) throw failed(op, ack.kind === "lost" ? ack.why : "others keep putting it");
      await pause(5);
    }
  }

  async get(hash: string): Promise<Uint8Array | undefined> {
    await this.#ready();
    const { store, names } = this.#options;
    const filter = names.blob("d", hash);
    const last = await store.last(op, names.wires, filter);
    if (!last || !isFragment(last)) return last?.data;
    let bytes: Uint8Array | undefined;
    const range = { filter, seq: 1, upTo: last.seq };
    for await (const whole of store.scan(op, names.wires, range)) bytes = whole.data;
    return bytes;
  }

  async of(run: string): Promise<string[]> {
    await this.#ready();
    const found = await this.#subjects(this.#options.names.blobUse(run, "*"));
    return [...new Set(found.map(({ subject }) => lastToken(subject)))].sort();
  }

  /** The run is being removed; bytes no other run uses are removed after an hour. */
  async release(run: string): Promise<void> {
    const { names } = this.#options;
    for (const hash of await this.of(run)) {
      await this.#purge(names.blobUser(hash, run));
      await this.#removeUnused(hash, await this.#now());
    }
    await this.#purge(names.blobUse(run, "*"));
  }

  /** Looks for content no run refers to; once an hour is enough. */
  async sweep(): Promise<void> {
    if (this.#swept !== 0 && performance.now() - this.#swept < grace) return;
    this.#swept = performance.now();
    const now = await this.#now();
    for (const note of await this.#subjects(this.#options.names.blob("n", "*")))
      if (now - note.time > grace && !isGone(note)) await this.#removeUnused(lastToken(note.subject), now);
  }

  async #removeUnused(hash: string, now: number): Promise<void> {
    const { store, names, tails } = this.#options;
    for (const { subject } of await this.#subjects(names.blobUser(hash, "*"))) {
      const run = untoken(lastToken(subject));
      if (await tails.read(op, run)) return;
    }
    const subject = names.blob("n", hash);
    const note = await store.last(op, names.wires, subject);
    if (!note || isGone(note) || now - note.time <= grace) return;
    const ack = await store.write(op, { subject, fence: fence(note.seq, subject), headers: "", data: gone });
    if (ack.kind !== "stored") return; // Put again just now.
    await store.api(op, `STREAM.PURGE.${names.wires}`, { filter: names.blob("d", hash), seq: ack.seq });
    await this.#purge(names.blobUser(hash, "*"), ack.seq);
    await this.#purge(subject, ack.seq + 1);
  }

  async #subjects(filter: string): Promise<Stored[]> {
    const { store, names } = this.#options;
    const last = await store.last(op, names.wires, filter);
    const found: Stored[] = [];
    if (last)
      for await (const message of store.scan(op, names.wires, { filter, seq: 1, upTo: last.seq })) found.push(message);
    return found;
  }

  async #purge(filter: string, seq?: number): Promise<void> {
    const { store, names } = this.#options;
    await store.api(op, `STREAM.PURGE.${names.wires}`, { filter, ...(seq !== undefined && { seq }) });
  }

  /** By the engine's clock. */
  async #now(): Promise<number> {
    const { store, names } = this.#options;
    await store.put(op, plain(names.clock));
    return (await store.last(op, names.index, names.clock))?.time ?? 0;
  }
}

const plain = (subject: string): Write => ({ subject, headers: "", data: empty });
const lastToken = (subject: string): string => subject.slice(subject.lastIndexOf(".") + 1);
