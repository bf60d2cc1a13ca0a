const noEntries: readonly never[] = [];

/** A Map created with its first entry: a run has about twenty, most of which stay empty. */
export class LazyMap<K, V> implements Iterable<[K, V]> {
  #map: Map<K, V> | undefined;

  get size(): number {
    return this.#map?.size ?? 0;
  }

  get(key: K): V | undefined {
    return this.#map?.get(key);
  }

  has(key: K): boolean {
    return this.#map?.has(key) ?? false;
  }

  set(key: K, value: V): this {
    this.#map ??= new Map();
    this.#map.set(key, value);
    return this;
  }

  delete(key: K): boolean {
    return this.#map?.delete(key) ?? false;
  }

  clear(): void {
    this.#map?.clear();
  }

  keys(): IterableIterator<K> {
    return this.#map?.keys() ?? noEntries.values();
  }

  values(): IterableIterator<V> {
    return this.#map?.values() ?? noEntries.values();
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#map?.entries() ?? noEntries.values();
  }
}

/** A Set created with its first member. */
export class LazySet<T> implements Iterable<T> {
  #set: Set<T> | undefined;

  get size(): number {
    return this.#set?.size ?? 0;
  }

  has(member: T): boolean {
    return this.#set?.has(member) ?? false;
  }

  add(member: T): this {
    this.#set ??= new Set();
    this.#set.add(member);
    return this;
  }

  delete(member: T): boolean {
    return this.#set?.delete(member) ?? false;
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#set?.values() ?? noEntries.values();
  }
}
