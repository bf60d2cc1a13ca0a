import { mostListed } from "venturi/internal";
import type { KeyRange, KeyValue, KeyValues } from "venturi/plugin";

export class MemoryKeyValues implements KeyValues {
  readonly #spaces = new Map<string, Map<string, KeyValue>>();
  readonly #usable: () => void;
  #version = 0;

  constructor(usable: () => void) {
    this.#usable = usable;
  }

  async get(space: string, key: string): Promise<KeyValue | undefined> {
    return this.#of(space).get(key);
  }

  async put(space: string, { key, value, version }: KeyValue): Promise<number | undefined> {
    const entries = this.#of(space);
    if ((entries.get(key)?.version ?? 0) !== version) return undefined;
    entries.set(key, { key, value, version: ++this.#version });
    return this.#version;
  }

  async remove(space: string, key: string, version: number): Promise<boolean> {
    const entries = this.#of(space);
    return entries.get(key)?.version === version && entries.delete(key);
  }

  async list(space: string, range: KeyRange = {}): Promise<KeyValue[]> {
    const { prefix = "", after = "", limit = mostListed } = range;
    return [...this.#of(space).values()]
      .filter(({ key }) => key.startsWith(prefix) && byBytes(key, after) > 0)
      .sort((left, right) => byBytes(left.key, right.key))
      .slice(0, limit);
  }

  #of(space: string): Map<string, KeyValue> {
    this.#usable();
    const entries = this.#spaces.get(space) ?? new Map<string, KeyValue>();
    this.#spaces.set(space, entries);
    return entries;
  }
}

const byBytes = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));
