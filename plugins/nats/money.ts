import { amountOf, sumUsage, UsageSums } from "venturi/internal";
import type {
  Amount,
  Append,
  Balance,
  Billed,
  EventOf,
  Hold,
  KeyValues,
  Ownership,
  Reached,
  Reservation,
  Reserved,
  RunEvent,
  UsageEntry,
  UsageQuery,
  UsageRow,
} from "venturi/plugin";
import { failed } from "./failures.ts";
import type { Write } from "./fragments.ts";
import type { Names } from "./names.ts";
import { pause, type Store } from "./store.ts";
import { bytesOf, textOf } from "./stored.ts";
import type { Tails } from "./tails.ts";

/** The account's new state, and the result to return once it is stored. */
interface Change<Told> {
  readonly account: Account;
  readonly told: Told;
}

interface Held {
  readonly over: readonly Balance[];
  readonly reached: readonly Reached[];
}

/** A run's reservation: held until its events show the outcome of the generation requested after `head`. */
interface HeldAmount extends Amount {
  readonly epoch: number;
  readonly head: number;
}

interface Account extends Amount {
  readonly level: number;
  readonly until: number;
  readonly held: Readonly<Record<string, HeldAmount>>;
}

interface MoneyOptions {
  readonly store: Store;
  readonly names: Names;
  readonly tails: Tails;
  readonly values: KeyValues;
  read(run: string, after: number, limit: number): Promise<RunEvent[]>;
}

const space = "accounts";
const nothing: Amount = { nanos: 0, tokens: 0 };
const plus = (left: Amount, right: Amount): Amount => ({
  nanos: left.nanos + right.nanos,
  tokens: left.tokens + right.tokens,
});

/** The message with the usage of events, stored in one batch with their record. Not part of the run: it outlives it. */
export const usageWrite = (names: Names, run: string, { usage }: Billed): Write => ({
  subject: names.usage(names.shardOf(run)),
  headers: "",
  data: bytesOf(JSON.stringify(usage)),
});

/**
 * Usage sums are read from messages next to the runs, continuing from the last query. Accounts are separate values, which cannot be in one
 * batch with a run: a reservation is settled right after the append or, if the process died in between, by whoever looks next, from the
 * run's events.
 */
export class Money {
  readonly #options: MoneyOptions;
  readonly #sums = new UsageSums();
  readonly #seen = new Map<number, number>();
  #reading: Promise<void> = Promise.resolve();
  /** Accounts on which this process's runs hold a reservation. */
  readonly #holding = new Map<string, readonly string[]>();
  /** Changes of an account are serialised within the process; processes race on the version. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(options: MoneyOptions) {
    this.#options = options;
  }

  async usage(query: UsageQuery): Promise<UsageRow[]> {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#readOn());
    await this.#reading;
    return sumUsage(this.#sums.rows as UsageEntry[], query); // Summed by all keys.
  }

  async reserve({ ownership, holds }: Reservation): Promise<Reserved> {
    const op = "journal.reserve";
    const { run, epoch } = ownership;
    // Not this process's cached tail: another may have taken the run while it was suspended.
    const tail = await this.#options.tails.read(op, run);
    if (tail?.epoch !== epoch || tail.state !== "running") return { kind: "fenced" };
    const reached: Reached[] = [];
    const over: Balance[] = [];
    const done: Hold[] = [];
    for (const hold of holds.toSorted((left, right) => (left.account < right.account ? -1 : 1))) {
      const answer = await this.#change(hold.account, hold.until, (stored) => this.#hold(stored, hold, ownership));
      if (answer === undefined) return { kind: "fenced" };
      reached.push(...answer.reached);
      over.push(...answer.over);
      if (answer.over.length === 0) done.push(hold);
    }
    if (over.length === 0) {
      const accounts = holds.map(({ account }) => account);
      this.#holding.set(run, accounts);
      return { kind: "held", reached };
    }
    for (const { account } of done) await this.#settle(account, run, nothing);
    return { kind: "over", over, reached };
  }

  /** The account with the reservation, if there is room; undefined if a later owner of the run holds one. */
  async #hold(
    stored: Account,
    hold: Hold,
    { run, epoch, head }: Reservation["ownership"],
  ): Promise<Change<Held | undefined>> {
    const { [run]: own, ...others } = stored.held;
    if (own !== undefined && own.epoch > epoch) return { account: stored, told: undefined };
    // The end of the earlier generation is stored by now, so it was not settled.
    const late = own === undefined ? nothing : await this.#spentAfter(run, own.head);
    let account: Account = { ...stored, ...plus(stored, late), held: others };
    if (!fits(hold, account)) account = await this.#withoutEnded(account);
    const isOver = !fits(hold, account);
    const spent = { nanos: account.nanos, tokens: account.tokens };
    const level = isOver ? 100 : isNear(hold, spent) ? 80 : 0;
    const next = { ...account, level: Math.max(level, account.level), until: Math.max(hold.until, account.until) };
    const told = {
      over: isOver ? [{ account: hold.account, spent, held: heldOf(account) }] : [],
      reached: level > account.level ? [{ account: hold.account, spent, level: level as 80 | 100 }] : [],
    };
    if (isOver) return { account: next, told };
    const { nanos, tokens } = hold;
    return { account: { ...next, held: { ...account.held, [run]: { nanos, tokens, epoch, head } } }, told };
  }

  async balances(accounts: readonly string[]): Promise<Balance[]> {
    const found = accounts.map(async (name) => {
      const stored = await this.#options.values.get(space, name);
      if (stored === undefined) return [];
      const account = JSON.parse(stored.value) as Account; // Written here.
      return [{ account: name, spent: { nanos: account.nanos, tokens: account.tokens }, held: heldOf(account) }];
    });
    return (await Promise.all(found)).flat();
  }

  /** Called after the append. If it fails, the hold stays; whoever looks at the account next settles it from the run's events. */
  async settle(batch: readonly Append[], fenced: ReadonlySet<Ownership>): Promise<void> {
    const settling = batch.flatMap(({ ownership, billed }) => {
      const { run } = ownership;
      const accounts = billed?.release ? this.#holding.get(run) : undefined;
      if (billed === undefined || accounts === undefined) return [];
      this.#holding.delete(run);
      if (fenced.has(ownership)) return [];
      const of = (name: string) => billed.spent.filter(({ account }) => account === name).reduce<Amount>(plus, nothing);
      return accounts.map((account) => this.#settle(account, run, of(account)).catch(() => {}));
    });
    await Promise.all(settling);
  }

  async #settle(account: string, run: string, spent: Amount): Promise<void> {
    await this.#change(account, 0, async (stored) => {
      const { [run]: own, ...held } = stored.held;
      return { account: own === undefined ? stored : { ...stored, ...plus(stored, spent), held }, told: undefined };
    });
  }

  /** Reservations of ended runs were left by a process that died; settled from their events. */
  async #withoutEnded(account: Account): Promise<Account> {
    const held: Record<string, HeldAmount> = {};
    let spent: Amount = account;
    for (const [run, hold] of Object.entries(account.held)) {
      const tail = await this.#options.tails.read("journal.reserve", run);
      if (tail !== undefined && tail.state !== "done") held[run] = hold;
      // Nothing is known about a removed run. Most were killed before an answer.
      else if (tail !== undefined) spent = plus(spent, await this.#spentAfter(run, hold.head));
    }
    return { ...account, nanos: spent.nanos, tokens: spent.tokens, held };
  }

  /** What the generation that followed this event cost. */
  async #spentAfter(run: string, head: number): Promise<Amount> {
    for (let after = head; ; ) {
      const events = await this.#options.read(run, after, 500);
      const end = events.find(isBilled);
      if (end !== undefined) {
        return amountOf(end);
      }
      const last = events.at(-1)?.seq;
      if (last === undefined) return nothing;
      after = last;
    }
  }

  async #change<T>(name: string, until: number, next: (account: Account) => Promise<Change<T>>): Promise<T> {
    const before = this.#turns.get(name);
    const work = (async () => {
      await before?.catch(() => {});
      return await this.#compareAndSet(name, until, next);
    })();
    this.#turns.set(name, work);
    try {
      return await work;
    } finally {
      if (this.#turns.get(name) === work) this.#turns.delete(name);
    }
  }

  /** `next` is called again when another write came first; only its last result counts. */
  async #compareAndSet<T>(name: string, until: number, next: (account: Account) => Promise<Change<T>>): Promise<T> {
    const { values, store } = this.#options;
    const deadline = performance.now() + store.timeout;
    for (let wait = 1; ; wait = Math.min(50, wait * 2)) {
      const found = await values.get(space, name);
      const account = found === undefined ? fresh(until) : (JSON.parse(found.value) as Account); // Written here.
      const { account: changed, told } = await next(account);
      if (changed === account) return told;
      const entry = { key: name, value: JSON.stringify(changed), version: found?.version ?? 0 };
      if ((await values.put(space, entry)) !== undefined) return told;
      if (performance.now() > deadline) throw failed("journal.reserve", "others keep changing the account");
      await pause(Math.random() * wait);
    }
  }

  async #readOn(): Promise<void> {
    const { store, names } = this.#options;
    const op = "journal.usage";
    for (let shard = 0; shard < names.shards; shard++) {
      const filter = names.usage(shard);
      const last = await store.last(op, names.stream(shard), filter);
      const seq = (this.#seen.get(shard) ?? 0) + 1;
      if (last === undefined || last.seq < seq) continue;
      for await (const { data, seq: at } of store.scan(op, names.stream(shard), { filter, seq, upTo: last.seq })) {
        for (const entry of JSON.parse(textOf(data)) as UsageEntry[]) this.#sums.add(entry); // Written by `usageWrite`.
        this.#seen.set(shard, at);
      }
    }
  }
}

const fresh = (until: number): Account => ({ ...nothing, level: 0, until, held: {} });

const heldOf = ({ held }: Account): Amount => Object.values(held).reduce<Amount>(plus, nothing);

function fits({ nanos, tokens, maxNanos = Infinity, maxTokens = Infinity }: Hold, account: Account): boolean {
  const taken = plus(account, heldOf(account));
  return taken.nanos + nanos <= maxNanos && taken.tokens + tokens <= maxTokens;
}

const isNear = ({ maxNanos = Infinity, maxTokens = Infinity }: Hold, { nanos, tokens }: Amount): boolean =>
  nanos >= 0.8 * maxNanos || tokens >= 0.8 * maxTokens;

/** Whether the event ends a generation, or a summary. */
const isBilled = (
  event: RunEvent,
): event is EventOf<"generation.finished" | "generation.failed" | "context.compacted"> =>
  event.type === "generation.finished" ||
  event.type === "generation.failed" ||
  (event.type === "context.compacted" && event.usage !== undefined);
