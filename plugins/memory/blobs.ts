import type { BlobStore } from "venturi/plugin";

/** Images and files of runs, each kept as long as a run that stored it. */
export class MemoryBlobs implements BlobStore {
  readonly #blobs = new Map<string, { readonly bytes: Uint8Array; readonly runs: Set<string> }>();
  readonly #used = new Map<string, Set<string>>();

  async put(run: string, hash: string, bytes: Uint8Array): Promise<void> {
    let blob = this.#blobs.get(hash);
    if (blob === undefined) {
      blob = { bytes: bytes.slice(), runs: new Set() };
      this.#blobs.set(hash, blob);
    }
    blob.runs.add(run);
    const used = this.#used.get(run) ?? new Set();
    this.#used.set(run, used.add(hash));
  }

  async use(run: string, hash: string): Promise<boolean> {
    const blob = this.#blobs.get(hash);
    if (blob !== undefined) await this.put(run, hash, blob.bytes);
    return blob !== undefined;
  }

  async get(hash: string): Promise<Uint8Array | undefined> {
    return this.#blobs.get(hash)?.bytes;
  }

  async pieces(hash: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const bytes = await this.get(hash);
    return bytes === undefined ? undefined : inPieces(bytes);
  }

  async of(run: string): Promise<string[]> {
    return [...(this.#used.get(run) ?? [])].sort();
  }

  forget(run: string): void {
    for (const hash of this.#used.get(run) ?? []) {
      const blob = this.#blobs.get(hash);
      blob?.runs.delete(run);
      if (blob?.runs.size === 0) this.#blobs.delete(hash);
    }
    this.#used.delete(run);
  }
}

/** The same size as in SQLite. */
const piece = 1024 * 1024;

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
}
