import type { Consumer, ConsumerMessages } from "@nats-io/jetstream";
import type { Headers } from "./bulk.ts";
import { type Names, runOf } from "./names.ts";
import { pause, type Store } from "./store.ts";
import type { ChangeKind, Seen } from "./view.ts";

/** Interval of checks for a stalled consumer, ms. */
const watchEvery = 5_000;

export interface LaneOptions {
  readonly store: Store;
  readonly names: Names;
  readonly domain: string | undefined;
  readonly shard: number;
  readonly kind: ChangeKind;
  /** Called with every change, in order. */
  readonly take: (seen: Seen) => void;
}

/** Follows one kind of change in one stream, with an ordered consumer. */
export class Lane {
  readonly kind: ChangeKind;
  /** Last delivered sequence. */
  delivered = 0;
  readonly #options: LaneOptions;
  /** Value of `delivered` at the last check. */
  #deliveredBefore = -1;
  /** The consumer that delivered the last message, and the message's place among those it delivered. */
  #name = "";
  #order = 0;
  /** Undefined before it follows, and while it is recreated. */
  #consumer: Consumer | undefined;
  #messages: ConsumerMessages | undefined;
  #closed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.kind = options.kind;
  }

  /** Delivers what the stream has after `delivered`. Resolves when that is done; continues until closed. */
  async follow(op: string): Promise<void> {
    if (this.#consumer !== undefined) return;
    const { consumer, messages } = await this.#catchUp(op);
    this.#consumer = consumer;
    const watch = setInterval(() => this.#watch(consumer, messages).catch(() => {}), watchEvery).unref(); // Checked again later.
    messages.closed().then(() => {
      clearInterval(watch);
      return this.#restart();
    });
  }

  /** Waits until everything up to `seq` was delivered. A rare kind's own messages say little about its progress. */
  async reaches(seq: number): Promise<boolean> {
    for (let left = 100; left > 0 && !this.#closed; left--) {
      if (this.delivered >= seq) return true;
      if (this.#consumer && !(await this.#isBehind(this.#consumer))) return true;
      await pause(20);
    }
    return false;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#messages?.close();
  }

  /** Recreates a consumer that delivers nothing although there is something for it, or that its server has lost. */
  async #watch(consumer: Consumer, messages: ConsumerMessages): Promise<void> {
    const { delivered } = this;
    if (delivered !== this.#deliveredBefore) {
      this.#deliveredBefore = delivered;
      return;
    }
    const behind = await this.#isBehind(consumer).catch(isConsumerGone);
    if (behind && this.delivered === delivered) await messages.close();
  }

  /** nats.js recreates an ordered consumer itself; this covers the cases it gives up on. */
  async #restart(): Promise<void> {
    for (let wait = 100; !this.#closed; wait = Math.min(2_000, wait * 2)) {
      await pause(wait);
      try {
        if (!this.#closed) return await this.follow("journal.follow");
      } catch {
        // Retried.
      }
    }
  }

  /**
   * Whether the consumer's server has more for it than has arrived. The server also advances `delivered.stream_seq` past messages that do
   * not match.
   */
  async #isBehind(consumer: Consumer): Promise<boolean> {
    const { name, num_pending: pending, delivered } = await consumer.info();
    const { consumer_seq: sent } = delivered;
    return pending > 0 || (sent > 0 && (name !== this.#name || sent > this.#order));
  }

  /** Resolves when nothing is pending; live messages follow. */
  async #catchUp(op: string): Promise<{ readonly consumer: Consumer; readonly messages: ConsumerMessages }> {
    const consumer = await this.#newConsumer(op);
    const caughtUp = Promise.withResolvers<void>();
    let heard = performance.now();
    const messages = await consumer.consume({
      max_messages: 1_000,
      expires: 5_000,
      idle_heartbeat: 1_000,
      callback: (message) => {
        heard = performance.now();
        const { subject, seq, timestampNanos, headers, info } = message;
        const time = Number(timestampNanos / 1_000n) / 1_000;
        const header = (name: string) => headers?.get(name) || undefined;
        this.delivered = seq;
        this.#name = info.consumer;
        this.#order = info.deliverySequence;
        this.#options.take(seenIn({ subject, seq, time, header }, this.#options.shard, this.kind));
        if (info.pending === 0) caughtUp.resolve();
      },
    });
    this.#messages = messages;
    messages.closed().then((reason) => {
      this.#messages = undefined;
      this.#consumer = undefined;
      caughtUp.reject(reason ?? new Error("the consumer was closed"));
    });
    if (this.#closed) void messages.close();
    // Pending messages may be pruned before they are delivered.
    const look = setInterval(async () => {
      if (performance.now() - heard < 500) return;
      const info = await consumer.info().catch(() => undefined);
      if (info?.num_pending === 0) caughtUp.resolve();
    }, 500);
    try {
      if ((await consumer.info(true)).num_pending === 0) caughtUp.resolve();
      await caughtUp.promise;
      return { consumer, messages };
    } catch (thrown) {
      await messages.close();
      throw thrown;
    } finally {
      clearInterval(look);
    }
  }

  async #newConsumer(op: string): Promise<Consumer> {
    const { store, names, domain, shard } = this.#options;
    const { DeliverPolicy, jetstream } = await import("@nats-io/jetstream");
    const client = jetstream(await store.link.connection(op), domain === undefined ? {} : { domain });
    return client.consumers.get(names.stream(shard), {
      filter_subjects: [names.runs(shard, this.kind)],
      headers_only: true,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.delivered + 1,
    });
  }
}

/** Rethrows errors that say nothing about the consumer. */
function isConsumerGone(thrown: unknown): true {
  if (thrown instanceof Error && /consumer not found/i.test(thrown.message)) return true;
  throw thrown;
}

export function seenIn({ subject, seq, time, header }: Headers, shard: number, kind: ChangeKind): Seen {
  const { run } = runOf(subject);
  return { run: flat(run), kind, shard, seq, time, standing: header("V") ?? "", origin: header("Q"), delivered: true };
}

/** A copy: a substring would keep the whole string, here a message's subject or headers, in memory. */
export const flat = (text: string): string => Buffer.from(text).toString();
