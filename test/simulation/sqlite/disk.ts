import type { Decisions } from "../decisions.ts";

type Change = { readonly at: number; readonly data: Uint8Array } | { readonly size: number };

export const sector = 512;

/** Bytes that grow. */
class Content {
  #bytes = new Uint8Array(65_536);
  size = 0;

  read(at: number, length: number): Uint8Array {
    return this.#bytes.subarray(Math.min(at, this.size), Math.min(at + length, this.size));
  }

  apply(change: Change): void {
    if ("size" in change) {
      this.#bytes.fill(0, Math.min(change.size, this.size), this.size);
      this.size = change.size;
      return;
    }
    const end = change.at + change.data.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(2 * end);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(change.data, change.at);
    this.size = Math.max(this.size, end);
  }
}

/** A file as a file system has it: bytes are sure to be kept only once they are synced. */
class DiskFile {
  /** As a reader sees it. */
  seen = new Content();
  /** What is kept when the power is lost now, besides any of the changes that are not synced. */
  #synced = new Content();
  #unsynced: Change[] = [];

  change(change: Change): void {
    this.seen.apply(change);
    this.#unsynced.push(change);
  }

  sync(): void {
    for (const change of this.#unsynced) this.#synced.apply(change);
    this.#unsynced = [];
  }

  /** Each write that was not synced is kept, lost, or kept up to one of its sectors. */
  lose(decisions: Decisions): void {
    for (const change of this.#unsynced) {
      const fate = decisions.below(3);
      if (fate === 0) continue;
      if (fate === 1 || !("data" in change)) this.#synced.apply(change);
      else {
        const sectors = decisions.below(Math.ceil(change.data.length / sector));
        this.#synced.apply({ at: change.at, data: change.data.subarray(0, sectors * sector) });
      }
    }
    this.#unsynced = [];
    this.seen = new Content();
    this.seen.apply({ at: 0, data: this.#synced.read(0, this.#synced.size) });
  }
}

/** The disk of one machine. */
export class Disk {
  readonly files = new Map<string, DiskFile>();
  readonly now: () => number;
  /** The power is lost before this many further writes and syncs. */
  #left = Number.POSITIVE_INFINITY;
  /** Nothing reaches it any more. */
  off = false;
  /** No file may grow. */
  full = false;

  constructor(now: () => number) {
    this.now = now;
  }

  open(name: string): DiskFile {
    const file = this.files.get(name) ?? new DiskFile();
    this.files.set(name, file);
    return file;
  }

  loseAfter(operations: number): void {
    this.#left = operations;
  }

  /** Before each change. Throws from the moment the power is lost. */
  touch(): void {
    if (this.#left-- <= 0) this.off = true;
    if (this.off) throw new Error("the power is lost");
  }

  /** The power is back. */
  restart(decisions: Decisions): void {
    for (const file of this.files.values()) file.lose(decisions);
    this.off = false;
    this.#left = Number.POSITIVE_INFINITY;
  }
}
