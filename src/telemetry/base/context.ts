import { type Context, createContextKey, ROOT_CONTEXT } from "@opentelemetry/api";

/** A context of the OpenTelemetry API with one value more than the one above. The API's own copies a Map and makes three closures. */
class LeanContext implements Context {
  readonly #above: Context;
  readonly #key: symbol;
  readonly #value: unknown;

  constructor(above: Context, key: symbol, value: unknown) {
    this.#above = above;
    this.#key = key;
    this.#value = value;
  }

  getValue(key: symbol): unknown {
    return key === this.#key ? this.#value : this.#above.getValue(key);
  }

  setValue(key: symbol, value: unknown): Context {
    return new LeanContext(this, key, value);
  }

  deleteValue(key: symbol): Context {
    return new LeanContext(this, key, undefined);
  }
}

/** Like the API's ROOT_CONTEXT; contexts made of it are lean too. */
export const leanRoot: Context = new LeanContext(ROOT_CONTEXT, createContextKey("venturi"), undefined);
