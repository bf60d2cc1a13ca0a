const kept = new Map<unknown, object>();

/**
 * Keeps the last instance of each class that is given. Where a collection finds none, the engine forgets the layout of the
 * class and throws away all code that was compiled for it: a service that was idle for a moment would be as slow as one
 * that has just started. What an instance refers to is kept with it, so the roots of what a run is made of are enough.
 */
export function keepOne(instance: object): void {
  kept.set(instance.constructor, instance);
}
