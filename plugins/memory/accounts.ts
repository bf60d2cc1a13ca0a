import { sumUsage, UsageSums } from "venturi/internal";
import type {
  Amount,
  Balance,
  Billed,
  Hold,
  Reached,
  Reservation,
  Reserved,
  UsageEntry,
  UsageQuery,
  UsageRow,
} from "venturi/plugin";

interface Account {
  nanos: number;
  tokens: number;
  level: number;
  until: number;
  readonly holds: Map<string, Amount>;
}

const nothing: Amount = { nanos: 0, tokens: 0 };
const sum = (amounts: Iterable<Amount>): Amount =>
  [...amounts].reduce(
    (left, right) => ({ nanos: left.nanos + right.nanos, tokens: left.tokens + right.tokens }),
    nothing,
  );

/** Usage sums and budget accounts. */
export class Accounts {
  readonly #usage = new UsageSums();
  readonly #accounts = new Map<string, Account>();
  /** Accounts on which a run holds a reservation. */
  readonly #heldBy = new Map<string, readonly string[]>();

  bill(run: string, { usage, spent, release }: Billed): void {
    for (const entry of usage) this.#usage.add(entry);
    for (const { account, nanos, tokens } of spent) {
      const known = this.#accounts.get(account);
      if (known === undefined) continue;
      known.nanos += nanos;
      known.tokens += tokens;
    }
    if (release) this.#letGo(run);
  }

  usage(query: UsageQuery): UsageRow[] {
    return sumUsage(this.#usage.rows as UsageEntry[], query); // Summed by all keys.
  }

  reserve({ ownership: { run }, holds }: Reservation): Reserved {
    this.#letGo(run);
    const reached: Reached[] = [];
    const over: Balance[] = [];
    for (const hold of holds) {
      const account = this.#of(hold);
      const held = sum(account.holds.values());
      const isOver = !fits(hold, { nanos: account.nanos + held.nanos, tokens: account.tokens + held.tokens });
      const spent = { nanos: account.nanos, tokens: account.tokens };
      if (isOver) over.push({ account: hold.account, spent, held });
      const level = isOver ? 100 : isNear(hold, spent) ? 80 : 0;
      if (level > account.level) reached.push({ account: hold.account, spent, level: level as 80 | 100 });
      account.level = Math.max(account.level, level);
    }
    if (over.length > 0) return { kind: "over", over, reached };
    for (const { account, nanos, tokens } of holds) this.#accounts.get(account)?.holds.set(run, { nanos, tokens });
    this.#heldBy.set(
      run,
      holds.map(({ account }) => account),
    );
    return { kind: "held", reached };
  }

  balances(accounts: readonly string[]): Balance[] {
    return accounts.flatMap((account) => {
      const known = this.#accounts.get(account);
      if (known === undefined) return [];
      return [{ account, spent: { nanos: known.nanos, tokens: known.tokens }, held: sum(known.holds.values()) }];
    });
  }

  forget(now: number): void {
    for (const [name, { until, holds }] of this.#accounts)
      if (until < now && holds.size === 0) this.#accounts.delete(name);
  }

  #letGo(run: string): void {
    for (const account of this.#heldBy.get(run) ?? []) this.#accounts.get(account)?.holds.delete(run);
    this.#heldBy.delete(run);
  }

  #of({ account, until }: Hold): Account {
    const known = this.#accounts.get(account) ?? { ...nothing, level: 0, until, holds: new Map() };
    known.until = Math.max(known.until, until);
    this.#accounts.set(account, known);
    return known;
  }
}

const fits = (hold: Hold, taken: Amount): boolean =>
  taken.nanos + hold.nanos <= (hold.maxNanos ?? Number.POSITIVE_INFINITY) &&
  taken.tokens + hold.tokens <= (hold.maxTokens ?? Number.POSITIVE_INFINITY);

const isNear = ({ maxNanos, maxTokens }: Hold, { nanos, tokens }: Amount): boolean =>
  (maxNanos !== undefined && nanos >= 0.8 * maxNanos) || (maxTokens !== undefined && tokens >= 0.8 * maxTokens);
