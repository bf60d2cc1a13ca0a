/** A small value under a key. `version` changes with every write and is never 0. */
export interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly version: number;
}

export interface KeyRange {
  /** Only keys that begin with this. */
  readonly prefix?: string;
  /** Only keys after this one. */
  readonly after?: string;
  readonly limit?: number;
}

/**
 * Small named values beside the runs, for what has to survive a restart but belongs to no run: schedules, cursors, dead
 * letters. Every write is a compare-and-set on the version, so that replicas never overwrite each other. A space is a
 * plugin's own; keys are text of at most 512 characters, values of at most 256 KiB.
 */
export interface KeyValues {
  get(space: string, key: string): Promise<KeyValue | undefined>;
  /**
   * Stores the value if the key's version is still this one (0: there is no such key). The new version, durable, or undefined
   * when somebody else was faster.
   */
  put(space: string, entry: KeyValue): Promise<number | undefined>;
  /** False when the version is another one by now. */
  remove(space: string, key: string, version: number): Promise<boolean>;
  /** In order of the keys' bytes in UTF-8. */
  list(space: string, range?: KeyRange): Promise<KeyValue[]>;
}

export const mostListed = 100;
