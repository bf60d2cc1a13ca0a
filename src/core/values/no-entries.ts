/**
 * Stand for the Maps and Sets of a run until their first entry. A run has some twenty that mostly stay empty; at 200 bytes each they are
 * a tenth of what an open stream keeps alive.
 */
const noEntries: ReadonlyMap<unknown, unknown> = new Map();
const noMembers: ReadonlySet<unknown> = new Set();

export const emptyMap = <K, V>(): ReadonlyMap<K, V> => noEntries as ReadonlyMap<K, V>;
export const emptySet = <T>(): ReadonlySet<T> => noMembers as ReadonlySet<T>;

/** The map with the entry: the same one, unless it was empty. */
export function withEntry<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> {
  if (map === noEntries) return new Map([[key, value]]);
  return (map as Map<K, V>).set(key, value); // Only the empty one is shared.
}

export function withoutEntry<K>(map: ReadonlyMap<K, unknown>, key: K): void {
  if (map.has(key)) (map as Map<K, unknown>).delete(key); // Only the empty one is shared, and it has no key.
}

/** The list with one item more. A push to an empty array would reserve seventeen places. */
export function withItem<T>(list: T[], item: T): T[] {
  if (list.length === 0) return [item];
  list.push(item);
  return list;
}

export function withMember<T>(set: ReadonlySet<T>, member: T): ReadonlySet<T> {
  if (set === noMembers) return new Set([member]);
  return (set as Set<T>).add(member); // Only the empty one is shared.
}
