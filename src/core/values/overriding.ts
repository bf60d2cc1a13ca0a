/**
 * The target with some members replaced. All others are the target's, passed through `around`: methods bound to it, values read when they
 * are asked for. A spread would lose what a class instance has from its class, and a list by hand forgets the member that is added next.
 */
export function overriding<T extends object>(target: T, own: Partial<T>, around: Around = (_, member) => member): T {
  const made = { ...own };
  for (let at: object = target; at !== Object.prototype && at !== null; at = Object.getPrototypeOf(at)) {
    for (const name of Reflect.ownKeys(at)) {
      if (name === "constructor" || Object.hasOwn(made, name)) continue;
      const value: unknown = "value" in (Object.getOwnPropertyDescriptor(at, name) ?? {}) && Reflect.get(target, name);
      // A schema may be a function too (ArkType), with its meaning in its properties.
      const isMethod = typeof value === "function" && !("~standard" in value);
      const member = isMethod
        ? { value: around(name, value.bind(target)) }
        : { get: () => around(name, Reflect.get(target, name)) };
      Object.defineProperty(made, name, { ...member, enumerable: true, configurable: true });
    }
  }
  return made as T;
}

type Around = (name: PropertyKey, member: unknown) => unknown;
