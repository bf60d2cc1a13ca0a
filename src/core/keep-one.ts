const kept = new Map<unknown, object>();

/**
 * Keeps one live instance of each class. When a garbage collection finds the last instance dead, V8 drops the hidden class and
 * its optimised code, so an idle service would be as slow as a cold one. Referenced objects stay alive too, so the root objects
 * of a run are enough.
 */
export function keepOne(instance: object): void {
  kept.set(instance.constructor, instance);
}
