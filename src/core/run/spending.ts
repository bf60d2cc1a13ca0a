import { addUsage, type Inherited, type Spent, type Usage } from "../model/usage.ts";
import { LazyMap } from "../values/lazy-collections.ts";
import type { RunEvent } from "./events.ts";

/** What the terminal event says of a run's usage. */
export interface Bill {
  readonly usage: Usage;
  readonly spent?: Spent;
  readonly inherited?: Inherited;
}

/** A run's usage, in total and by purpose. What a fork took over was spent by the original, so it is kept apart. */
export class Spending {
  readonly own = new Account();
  /** Of a fork. */
  inherited: Account | undefined;
  #takenOver = 0;
  #model = "";

  /** Deltas contribute nothing and need not be applied. */
  apply(event: RunEvent): void {
    switch (event.type) {
      case "run.started":
        if (event.fork === undefined) return;
        this.#takenOver = event.fork.after;
        this.inherited = new Account();
        return;
      case "round.started":
        this.#model = event.model;
        return;
      case "tool.finished":
        return this.#add(event, "tool", event.name);
      case "generation.finished":
        return this.#add(event, "generation", this.#model);
      case "generation.failed":
        return this.#add(event, "failed", event.model);
    }
  }

  get bill(): Bill {
    const { own, inherited } = this;
    return {
      usage: own.total,
      ...(own.isPlain ? {} : { spent: own.shares }),
      ...(inherited === undefined ? {} : { inherited: { usage: inherited.total, spent: inherited.shares } }),
    };
  }

  #add({ seq, usage }: { seq: number; usage?: Usage }, by: Spent[number]["by"], name: string): void {
    if (usage === undefined) return;
    if (this.inherited !== undefined && seq <= this.#takenOver) this.inherited.add(by, name, usage);
    else this.own.add(by, name, usage);
  }
}

class Account {
  total: Usage = {};
  readonly #shares = new LazyMap<string, Spent[number]>();

  add(by: Spent[number]["by"], name: string, usage: Usage): void {
    this.total = addUsage(this.total, usage);
    const key = `${by} ${name}`;
    const known = this.#shares.get(key);
    this.#shares.set(key, { by, name, count: (known?.count ?? 0) + 1, usage: addUsage(known?.usage ?? {}, usage) });
  }

  get shares(): Spent {
    return [...this.#shares.values()];
  }

  /** The shares would only repeat the total. */
  get isPlain(): boolean {
    const { shares } = this;
    return shares.length === 0 || (shares.length === 1 && shares[0]?.by === "generation");
  }
}
