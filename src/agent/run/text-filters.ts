import { VenturiError } from "../../core/errors/errors.ts";
import type { TextFilter } from "../../core/ports/hooks.ts";

/** Attributes a filter's failures to its hook. On the token path, so without a closure per piece. */
export class NamedFilter implements TextFilter {
  readonly #filter: TextFilter;
  readonly #name: string;

  constructor(filter: TextFilter, name: string) {
    this.#filter = filter;
    this.#name = name;
  }

  push(text: string): string {
    try {
      return this.#filter.push(text);
    } catch (thrown) {
      throw this.#failure(thrown);
    }
  }

  flush(): string {
    try {
      return this.#filter.flush();
    } catch (thrown) {
      throw this.#failure(thrown);
    }
  }

  end(): string | Promise<string> {
    try {
      const rest = this.#filter.end();
      if (typeof rest === "string") return rest;
      return rest.catch((thrown: unknown) => {
        throw this.#failure(thrown);
      });
    } catch (thrown) {
      throw this.#failure(thrown);
    }
  }

  #failure(thrown: unknown): VenturiError {
    if (VenturiError.isInstance(thrown)) return thrown;
    const details = { hook: this.#name };
    return new VenturiError("hook.filter", "plugin_failed", `${this.#name} threw`, { cause: thrown, details });
  }
}

/** Feeds the first filter's output to the second. */
export class FilterPair implements TextFilter {
  readonly #first: TextFilter;
  readonly #second: TextFilter;

  constructor(first: TextFilter, second: TextFilter) {
    this.#first = first;
    this.#second = second;
  }

  push(text: string): string {
    const passed = this.#first.push(text);
    return passed === "" ? "" : this.#second.push(passed);
  }

  flush(): string {
    const passed = this.#first.flush();
    return (passed === "" ? "" : this.#second.push(passed)) + this.#second.flush();
  }

  end(): string | Promise<string> {
    const passed = this.#first.end();
    if (typeof passed !== "string") return passed.then((text) => this.#endSecond(text));
    return this.#endSecond(passed);
  }

  #endSecond(text: string): string | Promise<string> {
    const passed = text === "" ? "" : this.#second.push(text);
    const rest = this.#second.end();
    return typeof rest === "string" ? passed + rest : rest.then((last) => passed + last);
  }
}
