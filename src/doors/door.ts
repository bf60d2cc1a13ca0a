/** Makes the error of an entry point: a VenturiError, or a ClientError in a browser. */
type ErrorOf = (op: string, message: string, cause: unknown) => Error;
/** By a method's name its signature, or `@` and the name of the table of an object. */
type Table = Readonly<Record<string, string>>;
// biome-ignore lint/suspicious/noExplicitAny: any function, whatever it takes
type AnyFunction = (...args: any[]) => unknown;
// biome-ignore lint/suspicious/noExplicitAny: any class, whatever it takes
type AnyClass = new (...args: any[]) => object;

/**
 * `text: string, options: object|undefined with signal => promise Run`: the kinds each parameter may be of, whether it has an
 * AbortSignal, how the result comes, and the table of its methods.
 */
interface Signature {
  readonly parameters: readonly {
    readonly name: string;
    readonly kinds: readonly string[];
    readonly signal: boolean;
  }[];
  readonly comes: "now" | "promise" | "stream";
  readonly handle: string | undefined;
}

/**
 * The doors of one entry point. A door checks the kinds of the arguments, so that a program without types learns what it got
 * wrong, and whatever a wrong value deeper down makes JavaScript throw leaves with an op and a code.
 */
export function makeDoors(errorOf: ErrorOf, handles: Readonly<Record<string, Table>>) {
  const opened = new WeakSet<object>();

  function guard(op: string, inner: AnyFunction, text: string): AnyFunction {
    let read: Signature | undefined;
    const guarded = {
      throughDoor(this: unknown, ...args: unknown[]): unknown {
        read ??= readSignature(text);
        const failure = (thrown: unknown) => convert(op, args, thrown);
        const wrong = complaintOf(read, args);
        if (wrong !== undefined) return failed(read, errorOf(op, `${wordsOf(op, args)}: ${wrong}`, undefined));
        try {
          return result(read, inner.apply(this, args), failure);
        } catch (thrown) {
          return failed(read, failure(thrown));
        }
      },
    }.throughDoor;
    Object.defineProperty(guarded, "name", { value: inner.name });
    Object.defineProperty(guarded, "length", { value: inner.length });
    return guarded;
  }

  function result({ comes, handle }: Signature, returned: unknown, failure: (thrown: unknown) => unknown): unknown {
    if (comes === "promise") {
      const settled = Promise.resolve(returned).then(undefined, (thrown: unknown) => {
        throw failure(thrown);
      });
      return handle === undefined ? settled : settled.then((value) => open(handle, value));
    }
    if (comes === "stream") return guardFirstRead(returned, failure);
    return handle === undefined ? returned : open(handle, returned);
  }

  /** Puts doors before the methods of what was returned: once per class, or on the object when it is a plain one. */
  function open<Value>(handle: string, value: Value): Value {
    if (typeof value !== "object" || value === null) return value;
    const prototype = Object.getPrototypeOf(value) as object | null;
    const holder = prototype === null || prototype === Object.prototype ? value : prototype;
    if (opened.has(holder)) return value;
    opened.add(holder);
    const noun = handle.replace(/^(?:Named|Test)/, "").toLowerCase();
    for (const [name, text] of Object.entries(handles[handle] ?? {})) {
      if (text.startsWith("@")) open(text.slice(1), Reflect.get(value, name) as unknown);
      // The class's own method: one of this object alone would become every object's.
      const member = Object.getOwnPropertyDescriptor(holder, name)?.value as unknown;
      if (typeof member === "function")
        Reflect.set(holder, name, guard(`${noun}.${name}`, member as AnyFunction, text));
    }
    return value;
  }

  function convert(op: string, args: readonly unknown[], thrown: unknown): unknown {
    if (!isNative(thrown)) return thrown;
    return errorOf(op, `${wordsOf(op, args)}: ${thrown.message}`, thrown);
  }

  return {
    door: <F>(op: string, inner: F, signature: string): F => guard(op, inner as AnyFunction, signature) as F,

    /** A class whose constructor and methods have doors. What others make of the inner class are instances of this one too. */
    doorOfClass<C>(op: string, inner: C, parameters: string, methods: Table): C {
      const base = inner as AnyClass; // exported classes alone come here
      const signature = readSignature(parameters);
      const guarded = class extends base {
        // biome-ignore-start lint/complexity/noThisInStatic: a class that extends this one is asked for itself
        static override [Symbol.hasInstance](value: unknown): boolean {
          return Function.prototype[Symbol.hasInstance].call(this === guarded ? base : this, value);
        }
        // biome-ignore-end lint/complexity/noThisInStatic: see above
        // biome-ignore lint/suspicious/noExplicitAny: what TypeScript asks of a mixin
        constructor(...args: any[]) {
          const wrong = complaintOf(signature, args);
          if (wrong !== undefined) throw errorOf(op, `${wordsOf(op, args)}: ${wrong}`, undefined);
          try {
            super(...args);
          } catch (thrown) {
            throw convert(op, args, thrown);
          }
          for (const [name, text] of Object.entries(methods)) {
            const own = Object.hasOwn(this, name) ? (Reflect.get(this, name) as unknown) : undefined;
            if (typeof own === "function") Reflect.set(this, name, guard(`${op}.${name}`, own as AnyFunction, text));
          }
        }
      };
      for (const [name, text] of Object.entries(methods)) {
        const method = Reflect.get(base.prototype, name) as unknown; // its own, or inherited: a Map's
        if (typeof method !== "function") continue;
        const value = guard(`${op}.${name}`, method as AnyFunction, text);
        Object.defineProperty(guarded.prototype, name, { value, writable: true, configurable: true });
      }
      Object.defineProperty(guarded, "name", { value: base.name });
      return guarded as C;
    },
  };
}

function readSignature(text: string): Signature {
  const [parameters = "", returned = ""] = text.split(" => ");
  const words = returned.split(" ").filter((word) => word !== "");
  const comes = words[0] === "promise" || words[0] === "stream" ? words[0] : "now";
  return {
    parameters: parameters
      .split(", ")
      .filter((parameter) => parameter !== "")
      .map((parameter) => {
        const [name = "", rest = "any"] = parameter.split(": ");
        const [kinds = "", signal] = rest.split(" with ");
        return { name, kinds: kinds === "any" ? [] : kinds.split("|"), signal: signal !== undefined };
      }),
    comes,
    handle: comes === "now" ? words[0] : words[1],
  };
}

function complaintOf({ parameters }: Signature, args: readonly unknown[]): string | undefined {
  for (let at = 0; at < parameters.length; at++) {
    const parameter = parameters[at];
    if (parameter === undefined || parameter.kinds.length === 0) continue;
    if (parameter.kinds.includes(kindOf(args[at]))) {
      if (!parameter.signal || isSignalRight(args[at])) continue;
      return `signal of ${parameter.name} has to be an AbortSignal`;
    }
    const wanted = parameter.kinds.filter((kind) => kind !== "undefined" || parameter.kinds.length === 1);
    return `${parameter.name} has to be ${wanted.map(withArticle).join(" or ")}, not ${withArticle(kindOf(args[at]))}`;
  }
  return undefined;
}

/** Of options with a signal: it is first used when something is under way already, so it is looked at here. */
function isSignalRight(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  const { signal } = value as { signal?: Partial<AbortSignal> | null };
  return signal === undefined || typeof signal?.addEventListener === "function";
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const withArticle = (kind: string): string => {
  if (kind === "null" || kind === "undefined") return kind;
  return `${/^[aeo]/.test(kind) ? "an" : "a"} ${kind}`;
};

/** `execute(null, object)`: the call as it was made, without its values, which may be secret. */
const wordsOf = (op: string, args: readonly unknown[]): string =>
  `${op.slice(op.indexOf(".") + 1)}(${args.map(kindOf).join(", ")})`;

/** What JavaScript itself throws for a value that does not fit. Other errors have a code, or are the caller's own. */
const isNative = (thrown: unknown): thrown is Error =>
  [TypeError, RangeError, ReferenceError, SyntaxError, URIError].some((type) => thrown instanceof type) &&
  typeof (thrown as { op?: unknown }).op !== "string";

/** An error in the way the result would have come. */
function failed({ comes }: Signature, error: unknown): unknown {
  if (comes === "promise") return Promise.reject(error);
  if (comes === "now") throw error;
  const next = () => Promise.reject(error);
  const iterator = {
    next,
    return: async () => ({ done: true, value: undefined }),
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}

/** A generator looks at its arguments when it is first read. From the second read on nothing stands in between. */
function guardFirstRead(stream: unknown, failure: (thrown: unknown) => unknown): unknown {
  if (typeof stream !== "object" || stream === null) return stream;
  const target = stream as AsyncIterable<unknown> & { next?: () => Promise<unknown> };
  const guardNext = (iterator: { next?: (...args: []) => Promise<unknown> }) => {
    const { next } = iterator;
    iterator.next = (...args) => {
      Reflect.deleteProperty(iterator, "next");
      if (iterator.next === undefined && next !== undefined) iterator.next = next; // it was the object's own
      return Promise.resolve(next?.apply(iterator, args)).catch((thrown: unknown) => {
        throw failure(thrown);
      });
    };
  };
  if (typeof target.next === "function") guardNext(target);
  return stream;
}
