import { toDollars, toNanos } from "../model/prices.ts";
import type { RunEvent } from "../run/events.ts";
import type { RunRequest } from "../run/run-request.ts";

/** Dimensions by which usage is summed; "" for a run without a key or user. */
export const usageKeys = ["day", "tenant", "agent", "model", "key", "user"] as const;
export type UsageKey = (typeof usageKeys)[number];

/** `generations` succeeded; `failed` ones still reported usage; for `unpriced` ones the cost is unknown. */
export const usageFigures = [
  "generations",
  "failed",
  "unpriced",
  "nanos",
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
] as const;
export type UsageFigure = (typeof usageFigures)[number];

/** A sum: whole numbers, `nanos` in billionths of a dollar. `day` is in UTC, as in 2026-11-17. */
export type UsageEntry = Readonly<Record<UsageKey, string>> & Readonly<Record<UsageFigure, number>>;

/** One row per combination of `by`, in their order. */
export interface UsageQuery {
  readonly by: readonly UsageKey[];
  /** Days, both inclusive. */
  readonly since?: string;
  readonly until?: string;
  /** Only rows with these values. */
  readonly only?: Readonly<Partial<Record<UsageKey, string>>>;
}
export type UsageRow = Readonly<Partial<Record<UsageKey, string>>> & Readonly<Record<UsageFigure, number>>;

/** An amount on an account: spent or reserved. */
export interface Amount {
  readonly nanos: number;
  readonly tokens: number;
}

/** An account and what a generation may take from it. Without a maximum, usage is only counted. */
export interface Hold extends Amount {
  readonly account: string;
  readonly maxNanos?: number;
  readonly maxTokens?: number;
  /** When the account may be forgotten, ms since the epoch. */
  readonly until: number;
}

export interface Reservation {
  /** The run, as of this moment. */
  readonly ownership: { readonly run: string; readonly epoch: number; readonly head: number };
  readonly holds: readonly Hold[];
}

/** `spent`: total of the account. `level`: the percentage reached for the first time. */
export interface Reached {
  readonly account: string;
  readonly spent: Amount;
  readonly level: 80 | 100;
}

/** `over`: for each account without room, what is spent and what others hold; nothing is reserved then. */
export type Reserved =
  | { readonly kind: "held"; readonly reached: readonly Reached[] }
  | { readonly kind: "over"; readonly over: readonly Balance[]; readonly reached: readonly Reached[] }
  /** Another worker owns the run. */
  | { readonly kind: "fenced" };

/** What is spent on an account, and what running generations have reserved. */
export interface Balance {
  readonly account: string;
  readonly spent: Amount;
  readonly held: Amount;
}

/** Stored in the append's transaction; ignored when the append is fenced or a repetition. */
export interface Billed {
  readonly usage: readonly UsageEntry[];
  readonly spent: readonly (Amount & { readonly account: string })[];
  /** Whether the run's reservation is given back. */
  readonly release: boolean;
}

/** Who a run's usage is billed to. */
export interface Payer {
  readonly tenant: string;
  readonly request: Pick<RunRequest, "agent" | "caller" | "user">;
}

/** Collects the usage of a run's generations until the append that stores their events. */
export class Billing {
  readonly #payer: Payer;
  #model = "";
  #usage: UsageEntry[] = [];
  #spent: { account: string; nanos: number; tokens: number }[] = [];
  #release = false;
  /** Reservations of the current generation. */
  #holds: readonly Hold[] = [];
  /** What recall took before a reservation named the accounts; settled with the next. */
  #recalled: Amount = { nanos: 0, tokens: 0 };
  /** The append that settles the last reservation may be still to come. */
  unsettled = false;
  /** This owner or an earlier one may hold a reservation. */
  #mayHold = false;

  constructor(payer: Payer) {
    this.#payer = payer;
  }

  /** The run's end gives back what it may hold. */
  useAccounts(): void {
    this.#mayHold = true;
  }

  held(holds: readonly Hold[]): void {
    this.#mayHold = true;
    this.unsettled = false;
    this.#holds = holds;
  }

  /** For all events except stream deltas. */
  add(event: RunEvent): void {
    switch (event.type) {
      case "round.started":
        this.#model = event.model;
        return;
      case "context.compacted":
        if (event.usage === undefined) return;
        this.#usage.push(...usageEntries(event, event.model ?? "", this.#payer));
        return this.#settle(event);
      case "memory.recalled":
        if (event.usage === undefined || event.call !== undefined) return;
        this.#recalled = sumOf(this.#recalled, amountOf(event));
        this.#usage.push(...usageEntries(event, event.model ?? "", this.#payer));
        return;
      case "generation.finished":
      case "generation.failed": {
        const model = event.type === "generation.failed" ? event.model : this.#model;
        for (const entry of usageEntries(event, model, this.#payer)) this.#usage.push(entry);
        return this.#settle(event);
      }
      case "run.finished":
      case "run.failed":
        if (this.#mayHold) this.#release = true;
    }
  }

  /** The billing for the append with the events added so far. */
  take(): Billed | undefined {
    if (this.#usage.length === 0 && this.#spent.length === 0 && !this.#release) return undefined;
    const billed = { usage: this.#usage, spent: this.#spent, release: this.#release };
    this.#usage = [];
    this.#spent = [];
    this.#release = false;
    return billed;
  }

  /** The billing for a terminal event written in place of events the engine refuses. */
  forEnd(): { billed?: Billed } {
    return this.#mayHold ? { billed: { usage: [], spent: [], release: true } } : {};
  }

  #settle(event: UsageEvent): void {
    if (this.#holds.length === 0) return;
    const { nanos, tokens } = sumOf(this.#recalled, amountOf(event));
    this.#recalled = { nanos: 0, tokens: 0 };
    if (tokens > 0 || nanos > 0) for (const { account } of this.#holds) this.#spent.push({ account, nanos, tokens });
    this.#holds = [];
    this.#release = true;
    this.unsettled = true;
  }
}

const sumOf = (a: Amount, b: Amount): Amount => ({ nanos: a.nanos + b.nanos, tokens: a.tokens + b.tokens });

/** What a generation takes from budgets, including a hedge. */
export function amountOf(event: UsageEvent): Amount {
  const { usage, cost = 0 } = event;
  const hedged = hedgedOf(event);
  const tokens = (used: UsageEvent["usage"]) => whole(used?.inputTokens) + whole(used?.outputTokens);
  return { tokens: tokens(usage) + tokens(hedged?.usage), nanos: toNanos(cost) + toNanos(hedged?.cost ?? 0) };
}

/** Usage entries of one event: of the generation, and of a hedge. */
export function usageEntries(event: UsageEvent, model: string, payer: Payer): UsageEntry[] {
  const { type, usage, cost, at } = event;
  const hedged = hedgedOf(event);
  const ended = type !== "generation.failed";
  const entries = usage === undefined ? [] : [entryOf({ model, usage, cost, at, ended }, payer)];
  if (hedged?.usage !== undefined)
    entries.push(entryOf({ model: hedged.model, usage: hedged.usage, cost: hedged.cost, at, ended: false }, payer));
  return entries;
}

const hedgedOf = (event: UsageEvent) => ("hedged" in event ? event.hedged : undefined);

interface Used {
  readonly model: string;
  readonly usage: NonNullable<UsageEvent["usage"]>;
  readonly cost: number | undefined;
  readonly at: number;
  /** It succeeded. */
  readonly ended: boolean;
}

function entryOf({ model, usage, cost, at, ended }: Used, { tenant, request }: Payer): UsageEntry {
  return {
    day: dayOf(at),
    tenant,
    agent: request.agent,
    model,
    key: request.caller?.id ?? "",
    user: request.user ?? "",
    generations: ended ? 1 : 0,
    failed: ended ? 0 : 1,
    unpriced: cost === undefined ? 1 : 0,
    nanos: cost === undefined ? 0 : toNanos(cost),
    inputTokens: whole(usage.inputTokens),
    outputTokens: whole(usage.outputTokens),
    cacheReadTokens: whole(usage.cacheReadTokens),
    cacheWriteTokens: whole(usage.cacheWriteTokens),
    reasoningTokens: whole(usage.reasoningTokens),
  };
}

export type UsageEvent = Extract<
  RunEvent,
  { type: "generation.finished" | "generation.failed" | "context.compacted" | "memory.recalled" }
>;

const whole = (tokens = 0): number => Math.round(tokens);

let today = { number: Number.NaN, name: "" };

/** Caches the last day: formatting a date takes 5 µs, and every generation needs today's. */
export function dayOf(at: number): string {
  const number = Math.floor(at / 86_400_000);
  if (number !== today.number) today = { number, name: new Date(at).toISOString().slice(0, 10) };
  return today.name;
}

/** Sums usage for engines without a query language, and over pages of rows. */
export class UsageSums {
  readonly #rows = new Map<string, Sums>();
  readonly #keys: readonly UsageKey[];

  constructor(keys: readonly UsageKey[] = usageKeys) {
    this.#keys = keys;
  }

  add(entry: UsageRow): void {
    // Each field is prefixed with its length, so that no two rows share a key.
    let key = "";
    for (const each of this.#keys) key += `${entry[each]?.length} ${entry[each]}`;
    const known = this.#rows.get(key);
    if (known !== undefined) for (const figure of usageFigures) known[figure] += entry[figure];
    else this.#rows.set(key, this.#rowOf(entry));
  }

  #rowOf(entry: UsageRow): Sums {
    const names = this.#keys.map((each) => [each, entry[each]]);
    const figures = usageFigures.map((figure) => [figure, entry[figure]]);
    return Object.fromEntries([...names, ...figures]) as Sums; // The keys and figures of one row.
  }

  get rows(): UsageRow[] {
    return Array.from(this.#rows.values(), (row) => ({ ...row }));
  }
}

type Sums = Partial<Record<UsageKey, string>> & Record<UsageFigure, number>;

/** The rows of a query, ordered by its keys. */
export function sumUsage(entries: Iterable<UsageEntry>, { by, since, until, only = {} }: UsageQuery): UsageRow[] {
  const sums = new UsageSums(by);
  for (const entry of entries) {
    if ((since !== undefined && entry.day < since) || (until !== undefined && entry.day > until)) continue;
    if (usageKeys.every((key) => only[key] === undefined || only[key] === entry[key])) sums.add(entry);
  }
  return inOrder(sums.rows, by);
}

export function inOrder(rows: readonly UsageRow[], by: readonly UsageKey[]): UsageRow[] {
  const order = (left: UsageRow, right: UsageRow): number => {
    for (const key of by) {
      const [a = "", b = ""] = [left[key], right[key]];
      if (a !== b) return a < b ? -1 : 1;
    }
    return 0;
  };
  return rows.toSorted(order);
}

/** USD of a sum. */
export const usdOf = ({ nanos }: Pick<UsageRow, "nanos">): number => toDollars(nanos);
