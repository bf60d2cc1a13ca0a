import { type BlobStore, VenturiError } from "venturi/plugin";
import type { BlobRow } from "./protocol.ts";
import type { Asked } from "./store-thread.ts";
import type { WalFlush } from "./wal-flush.ts";

/** Larger blobs are written and read in pieces of this size, each in its own turn of the thread. */
const piece = 1024 * 1024;
const nothing = new Uint8Array();

export interface Threads {
  readonly writes: Asked;
  readonly reads: Asked;
  readonly wal?: WalFlush | undefined;
}

/** Content of runs next to their events. A blob written in pieces becomes visible with the last one. */
export class Blobs implements BlobStore {
  readonly #threads: Threads;

  constructor(threads: Threads) {
    this.#threads = threads;
  }

  async put(run: string, hash: string, bytes: Uint8Array): Promise<void> {
    const { writes, wal } = this.#threads;
    if (bytes.length <= piece) return await writes.ask("putBlob", run, hash, { bytes, parts: 0 });
    if (await this.use(run, hash)) return;
    const parts = Math.ceil(bytes.length / piece);
    // One at a time, so that other requests get their turn in between.
    for (let part = 0; part < parts; part++) {
      const view = bytes.subarray(part * piece, (part + 1) * piece);
      // A copy: sending a view would send all the memory behind it. A Buffer's own `slice` creates a view.
      await writes.ask("putBlobPart", hash, part, Uint8Array.prototype.slice.call(view));
      await wal?.flush();
    }
    await writes.ask("putBlob", run, hash, { bytes: nothing, parts });
  }

  use(run: string, hash: string): Promise<boolean> {
    return this.#threads.writes.ask("useBlob", run, hash);
  }

  async get(hash: string): Promise<Uint8Array | undefined> {
    const found = await this.#threads.reads.ask("blob", hash);
    if (found === undefined || found.parts === 0) return found?.bytes;
    const all: Uint8Array[] = [];
    for await (const bytes of this.#parts(hash, found)) all.push(bytes);
    return Buffer.concat(all);
  }

  async pieces(hash: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = await this.#threads.reads.ask("blob", hash);
    return found && this.#parts(hash, found);
  }

  of(run: string): Promise<string[]> {
    return this.#threads.reads.ask("blobsOf", run);
  }

  async *#parts(hash: string, { parts, bytes }: BlobRow): AsyncGenerator<Uint8Array> {
    if (parts === 0) yield bytes;
    for (let part = 0; part < parts; part++) {
      const next = await this.#threads.reads.ask("blobPart", hash, part);
      if (next === undefined)
        throw new VenturiError("journal.blob", "record_invalid", `part ${part} of the content ${hash} is missing`);
      yield next;
    }
  }
}
