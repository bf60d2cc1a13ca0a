import { addCosts, CostSum, costOf, type PriceOf } from "../model/prices.ts";
import { addUsage, type Inherited, type Spent, type Usage } from "../model/usage.ts";
import { emptyMap, withEntry } from "../values/no-entries.ts";
import type { Hedged } from "./event-fields.ts";
import type { RunEvent } from "./events.ts";

/** Usage and cost of a run, as in its terminal event. */
export interface Bill {
  readonly usage: Usage;
  /** USD: of its own generations. */
  readonly cost?: number;
  /** Including what its tools spent, such as called agents; only for runs with such tools. */
  readonly totalCost?: number;
  readonly spent?: Spent;
  readonly inherited?: Inherited;
}

/** A run's usage, in total and by purpose. What a fork copied was spent by the original and is kept apart. */
export class Spending {
  readonly own = new Account();
  /** Set for a fork. */
  inherited: Account | undefined;
  readonly #priceOf: PriceOf | undefined;
  #takenOver = 0;
  #model = "";

  /** `priceOf`: for events without a cost, written by earlier releases. */
  constructor(priceOf?: PriceOf) {
    this.#priceOf = priceOf;
  }

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
        this.#add(event, "generation", this.#model);
        return this.#addHedged(event);
      case "generation.failed":
        this.#add(event, "failed", event.model);
        return this.#addHedged(event);
      case "context.compacted":
        return this.#add(event, "compaction", event.model ?? "");
      case "memory.recalled":
        // With a call, it is part of what the call spent.
        return event.call === undefined ? this.#add(event, "recall", event.model ?? "") : undefined;
    }
  }

  get bill(): Bill {
    const { own, inherited } = this;
    return {
      usage: own.total,
      ...own.costs,
      ...(own.isPlain ? {} : { spent: own.shares }),
      ...(inherited === undefined
        ? {}
        : { inherited: { usage: inherited.total, spent: inherited.shares, ...inherited.costs } }),
    };
  }

  #addHedged({ seq, hedged }: { readonly seq: number; readonly hedged?: Hedged }): void {
    if (hedged !== undefined) this.#add({ ...hedged, seq }, "failed", hedged.model);
  }

  #add({ seq, usage, cost }: Spender, by: Spent[number]["by"], name: string): void {
    if (usage === undefined) return;
    const isOld = this.inherited !== undefined && seq <= this.#takenOver;
    const known = cost ?? (by === "tool" ? undefined : costOf(usage, this.#priceOf?.(name)));
    (isOld ? this.inherited : this.own)?.add({ by, name, usage, cost: known });
  }
}

interface Spender {
  readonly seq: number;
  readonly usage?: Usage;
  readonly cost?: number;
}

interface Share {
  readonly by: Spent[number]["by"];
  readonly name: string;
  readonly usage: Usage;
  readonly cost: number | undefined;
}

class Account {
  total: Usage = {};
  readonly #generations = new CostSum();
  readonly #tools = new CostSum();
  #shares = emptyMap<string, Spent[number] & { readonly sum: CostSum }>();

  add({ by, name, usage, cost }: Share): void {
    this.total = this.#shares.size === 0 ? usage : addUsage(this.total, usage);
    (by === "tool" ? this.#tools : this.#generations).add(cost);
    const key = `${by} ${name}`;
    const known = this.#shares.get(key);
    const sum = known?.sum ?? new CostSum();
    sum.add(cost);
    this.#shares = withEntry(this.#shares, key, {
      by,
      name,
      count: (known?.count ?? 0) + 1,
      usage: known === undefined ? usage : addUsage(known.usage, usage),
      sum,
    });
  }

  /** Without what tools spent. */
  get generations(): Usage {
    return [...this.#shares.values()].reduce<Usage>(
      (sum, { by, usage }) => (by === "tool" ? sum : addUsage(sum, usage)),
      {},
    );
  }

  get costs(): { cost?: number; totalCost?: number } {
    const cost = this.#generations.usd;
    const total = this.#tools.isEmpty ? undefined : addCosts(this.#generations, this.#tools);
    return { ...(cost === undefined ? {} : { cost }), ...(total === undefined ? {} : { totalCost: total }) };
  }

  get shares(): Spent {
    return [...this.#shares.values()].map(({ sum: { usd }, ...share }) => ({
      ...share,
      ...(usd === undefined ? {} : { cost: usd }),
    }));
  }

  get isByTools(): boolean {
    return !this.#tools.isEmpty;
  }

  /** The shares would only repeat the total. */
  get isPlain(): boolean {
    const { shares } = this;
    return shares.length === 0 || (shares.length === 1 && shares[0]?.by === "generation");
  }
}
