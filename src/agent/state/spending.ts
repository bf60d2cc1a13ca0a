import { LazyMap } from "../../core/lazy-collections.ts";
import { addUsage, type Spent, type Usage } from "../../core/usage.ts";

/** A run's usage, in total and by purpose. */
export class Spending {
  total: Usage = {};
  readonly #shares = new LazyMap<string, Spent[number]>();

  add(by: Spent[number]["by"], name: string, usage: Usage): void {
    this.total = addUsage(this.total, usage);
    const key = `${by} ${name}`;
    const known = this.#shares.get(key);
    this.#shares.set(key, { by, name, count: (known?.count ?? 0) + 1, usage: addUsage(known?.usage ?? {}, usage) });
  }

  /** Undefined when it would only repeat the total. */
  get parts(): Spent | undefined {
    const shares = [...this.#shares.values()];
    return shares.length === 0 || (shares.length === 1 && shares[0]?.by === "generation") ? undefined : shares;
  }
}
