import type { Append, Ownership } from "venturi/plugin";
import { aboutNow } from "./engine-time.ts";
import { failed } from "./failures.ts";
import type { Outgoing } from "./fragments.ts";
import { Item } from "./item.ts";
import type { Names } from "./names.ts";
import type { Records } from "./records.ts";
import { standingText, type Tail } from "./standing.ts";
import { batchLimit, pause, type Store } from "./store.ts";
import type { Tails } from "./tails.ts";
import type { View } from "./view.ts";

export interface AppendsOptions {
  readonly store: Store;
  readonly names: Names;
  readonly view: View;
  readonly tails: Tails;
  readonly records: Records;
  readonly replicas: number;
}

interface Ready {
  readonly item: Item;
  readonly tail: Tail;
}

const op = "journal.append";

/** Appends optimistically where this process knows the run's tail, otherwise reads it first. */
export class Appends {
  readonly #options: AppendsOptions;

  constructor(options: AppendsOptions) {
    this.#options = options;
  }

  async append(batch: readonly Append[]): Promise<ReadonlySet<Ownership>> {
    const ready: Ready[] = [];
    const slow: Item[] = [];
    const runs = new Set<string>();
    for (const append of batch) {
      const item = new Item(append);
      const tail = this.#options.tails.get(item.run);
      if (tail && item.fits(tail) && !runs.has(item.run)) ready.push({ item, tail });
      else slow.push(item);
      runs.add(item.run);
    }
    slow.unshift(...(this.#options.replicas === 1 ? await this.#writeTogether(ready) : await this.#writeEach(ready)));
    const fenced = new Set<Ownership>();
    const settling = [...Map.groupBy(slow, ({ run }) => run).values()].map(async (items) => {
      for (const item of items) if (!(await this.#retryRefused(item))) fenced.add(item.append.ownership);
    });
    await Promise.all(settling);
    return fenced;
  }

  /** In parallel; each is accepted or refused on its own. Raft batches them into shared log writes. */
  async #writeEach(ready: readonly Ready[]): Promise<Item[]> {
    const { store, names } = this.#options;
    const slow: Item[] = [];
    const written = ready.map(async ({ item, tail }) => {
      const ack = await store.writeTogether(op, item.writes(tail, names));
      if (ack.kind === "stored") this.#wrote(item, tail, ack.seq);
      else slow.push(item);
    });
    await Promise.all(written);
    return slow;
  }

  /** A single server syncs per message, but a batch only once. A batch with a fenced item is refused as a whole. */
  async #writeTogether(ready: readonly Ready[]): Promise<Item[]> {
    const { store, names } = this.#options;
    const slow: Item[] = [];
    const shards = [...Map.groupBy(ready, ({ item }) => names.shardOf(item.run)).values()];
    const written = shards.map(async (all) => {
      for (const group of this.#batches(all)) {
        const ack = await store.send(
          op,
          group.flatMap(({ messages }) => messages),
        );
        if (ack.kind !== "stored") {
          slow.push(...group.map(({ item }) => item));
          continue;
        }
        let seq = ack.seq;
        for (const { item, tail, messages } of group.toReversed()) {
          this.#wrote(item, tail, seq);
          seq -= messages.length;
        }
      }
    });
    await Promise.all(written);
    return slow;
  }

  #batches(all: readonly Ready[]): (Ready & { readonly messages: Outgoing[] })[][] {
    const { store, names } = this.#options;
    const batches: (Ready & { readonly messages: Outgoing[] })[][] = [];
    let room = 0;
    for (const { item, tail } of all) {
      const messages = store.messagesOf(op, item.writes(tail, names));
      if (messages.length > room) {
        batches.push([]);
        room = batchLimit;
      }
      room -= messages.length;
      batches.at(-1)?.push({ item, tail, messages });
    }
    return batches;
  }

  #wrote(item: Item, tail: Tail, seq: number): void {
    const { tails, view, names } = this.#options;
    const next = item.next(tail);
    const { run } = item;
    if (next.state === "running") {
      tails.set(run, { ...next, seq, time: tail.time });
      return;
    }
    tails.delete(run, next.epoch);
    const standing = standingText(next);
    view.apply({ run, shard: names.shardOf(run), kind: "x", seq, time: aboutNow(), standing });
  }

  /** Resolves a refusal: a signal in between, a lost response, or another epoch. Returns whether the item is stored. */
  async #retryRefused(item: Item): Promise<boolean> {
    const { store, names, tails } = this.#options;
    const deadline = performance.now() + store.timeout;
    for (let wait = 2; ; wait = Math.min(100, wait * 2)) {
      const tail = await tails.read(op, item.run);
      if (!tail) return false;
      if (!item.fits(tail)) {
        tails.delete(item.run, item.append.ownership.epoch);
        return this.#isThere(item, tail);
      }
      const ack = await store.writeTogether(op, item.writes(tail, names));
      if (ack.kind === "stored") {
        this.#wrote(item, tail, ack.seq);
        return true;
      }
      if (performance.now() > deadline)
        throw failed(op, ack.kind === "lost" ? ack.why : "others keep writing to the run");
      await pause(wait);
    }
  }

  /** The same events in the same place, by the same epoch: only the response was lost. */
  async #isThere({ append, run, first, text }: Item, tail: Tail): Promise<boolean> {
    const { epoch, head } = append.ownership;
    if (first === 0) return tail.epoch === epoch && tail.head === head && tail.state !== "running";
    const limit = append.events.length;
    if (tail.head < first + limit - 1) return false;
    const records = await this.#options.records.read(op, { run, after: first - 1, limit, upTo: tail.seq });
    const mine = records.every((record) => record.epoch === epoch);
    return mine && records[0]?.first === first && records.map(({ body }) => body).join("\n") === text;
  }
}
