/** A small value under a key. `version` changes with every write and is never 0. */
export interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly version: number;
}

export interface KeyRange {
  /** Only keys with this prefix. */
  readonly prefix?: string;
  /** Only keys after this one. */
  readonly after?: string;
  readonly limit?: number;
}

/**
 * Small named values for what must survive a restart but belongs to no run: schedules, cursors, dead letters. Every write is a
 * compare-and-set on the version, so that replicas never overwrite each other. Each plugin has its own space; keys have at most 512
 * characters, values at most 256 KiB.
 */
export interface KeyValues {
  get(space: string, key: string): Promise<KeyValue | undefined>;
  /**
   * Stores the value if the key still has this version (0: no such key). Returns the new version once durable, or undefined if another
   * write came first.
   */
  put(space: string, entry: KeyValue): Promise<number | undefined>;
  /** False if the version has changed. */
  remove(space: string, key: string, version: number): Promise<boolean>;
  /** Ordered by the keys' UTF-8 bytes. */
  list(space: string, range?: KeyRange): Promise<KeyValue[]>;
}

export const mostListed = 100;
