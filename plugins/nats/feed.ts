import type { ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import { readCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import { type Names, runOf } from "./names.ts";
import { pause, type Store } from "./store.ts";
import { type Seen, View } from "./view.ts";

/** State changes between checkpoints. */
const checkpointEvery = 5_000;
/** Interval of checks for stalled consumers, ms. */
const watchEvery = 5_000;
const kinds = ["q", "x", "s"] as const;

export interface FeedOptions {
  readonly store: Store;
  readonly names: Names;
  readonly view: View;
  readonly domain: string | undefined;
}

/**
 * Maintains the view: one ordered consumer per stream delivers every state change. It starts from a checkpoint of the
 * unfinished runs; ended ones are read only for listing and pruning.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #shards: Shard[];
  readonly #consuming = new Set<ConsumerMessages>();
  #loading: Promise<void> | undefined;
  #closed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#shards = Array.from({ length: options.names.shards }, (_, number) => ({
      number,
      delivered: 0,
      from: 0,
      since: 0,
      deliveredBefore: -1,
      following: undefined,
    }));
  }

  /** Number of messages read from the streams. */
  get read(): number {
    return this.#shards.reduce((sum, { since }) => sum + since, 0);
  }

  /** Resolves when it has caught up with the streams. */
  follow(op: string): Promise<unknown> {
    return Promise.all(this.#shards.map((shard) => this.#followShard(op, shard)));
  }

  /** Resolves when runs that ended before the checkpoint are in the view as well. */
  history(op: string): Promise<void> {
    this.#loading ??= Promise.all(this.#shards.map((shard) => this.#load(op, shard))).then(
      () => {},
      (thrown: unknown) => {
        this.#loading = undefined;
        throw thrown;
      },
    );
    return this.#loading;
  }

  /** Waits until the streams have delivered this process's own writes. */
  async settled(patience: number): Promise<void> {
    const deadline = performance.now() + patience;
    const { applied } = this.#options.view;
    const isBehind = () => this.#shards.some(({ number, delivered }) => (applied[number] ?? 0) > delivered);
    while (isBehind() && performance.now() < deadline) await pause(2);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#consuming].map((messages) => messages.close()));
  }

  #followShard(op: string, shard: Shard): Promise<void> {
    shard.following ??= this.#start(op, shard).catch((thrown: unknown) => {
      shard.following = undefined;
      throw thrown;
    });
    return shard.following;
  }

  async #start(op: string, shard: Shard): Promise<void> {
    const { view } = this.#options;
    if (shard.delivered === 0) {
      const checkpoint = await readCheckpoint(op, this.#options, shard.number);
      if (checkpoint) {
        shard.from = checkpoint.seq;
        shard.delivered = checkpoint.seq;
        for (const known of checkpoint.runs) view.keep(known);
      }
    }
    await this.#consume(op, shard);
  }

  /** Resolves when caught up; continues until closed. */
  async #consume(op: string, shard: Shard): Promise<void> {
    const messages = await this.#catchUp(op, shard, (message) => this.#take(shard, message));
    const watch = setInterval(() => this.#watch(shard, messages).catch(() => {}), watchEvery).unref(); // checked again later
    messages.closed().then(() => {
      clearInterval(watch);
      return this.#restart(shard);
    });
  }

  /** Recreates a consumer that delivers nothing although its stream has advanced. */
  async #watch(shard: Shard, messages: ConsumerMessages): Promise<void> {
    const { store, names } = this.#options;
    const { delivered } = shard;
    if (delivered !== shard.deliveredBefore) {
      shard.deliveredBefore = delivered;
      return;
    }
    for (const kind of kinds) {
      const last = await store.last("journal.follow", names.stream(shard.number), names.runs(shard.number, kind));
      if ((last?.seq ?? 0) <= delivered || shard.delivered !== delivered) continue;
      await messages.close();
      return;
    }
  }

  /** nats.js recreates an ordered consumer itself; this covers the cases it gives up on. */
  async #restart(shard: Shard): Promise<void> {
    for (let wait = 100; !this.#closed; wait = Math.min(2_000, wait * 2)) {
      await pause(wait);
      try {
        if (!this.#closed) return await this.#consume("journal.follow", shard);
      } catch {
        // retried
      }
    }
  }

  #take(shard: Shard, message: JsMsg): void {
    const { view } = this.#options;
    const seen = seenIn(message, shard.number);
    shard.delivered = seen.seq;
    shard.since += 1;
    view.apply(seen);
    if (shard.since % checkpointEvery === 0) this.#checkpoint(shard, seen).catch(() => {}); // the next one will do
  }

  async #checkpoint(shard: Shard, { seq, time }: Seen): Promise<void> {
    // This process's own writes may be ahead of `seq`; they are delivered again, with no effect.
    const runs = [...this.#options.view.open()].filter((known) => known.shard === shard.number);
    await writeCheckpoint("journal.checkpoint", this.#options, {
      shard: shard.number,
      checkpoint: { seq, time, runs },
    });
  }

  /** Runs that ended before the checkpoint. Held back until their last state change is known. */
  async #load(op: string, shard: Shard): Promise<void> {
    if (shard.from === 0) return;
    const { view, names } = this.#options;
    const all = new View(names.shards, () => {});
    const whole = { number: shard.number, delivered: 0 };
    const messages = await this.#catchUp(op, whole, (message) => all.apply(seenIn(message, shard.number)));
    await messages.close();
    for (const known of all.walk({ oldestFirst: true }))
      if (known.state === "done" && !view.get(known.run)) view.keep(known);
  }

  /** Delivers what the stream has after `delivered`, then live messages; resolves when nothing is pending. */
  async #catchUp(
    op: string,
    { number, delivered }: { readonly number: number; readonly delivered: number },
    callback: (message: JsMsg) => void,
  ): Promise<ConsumerMessages> {
    const { store, names, domain } = this.#options;
    const { DeliverPolicy, jetstream } = await import("@nats-io/jetstream");
    const client = jetstream(await store.link.connection(op), domain === undefined ? {} : { domain });
    const consumer = await client.consumers.get(names.stream(number), {
      filter_subjects: kinds.map((kind) => names.runs(number, kind)),
      headers_only: true,
      ...(delivered === 0
        ? { deliver_policy: DeliverPolicy.LastPerSubject }
        : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: delivered + 1 }),
    });
    const caughtUp = Promise.withResolvers<void>();
    let heard = performance.now();
    const messages = await consumer.consume({
      max_messages: 1_000,
      expires: 5_000,
      idle_heartbeat: 1_000,
      callback: (message) => {
        heard = performance.now();
        callback(message);
        if (message.info.pending === 0) caughtUp.resolve();
      },
    });
    this.#consuming.add(messages);
    messages.closed().then((reason) => {
      this.#consuming.delete(messages);
      caughtUp.reject(reason ?? new Error("the consumer was closed"));
    });
    // Pending messages may be pruned before they are delivered.
    const look = setInterval(async () => {
      if (performance.now() - heard < 500) return;
      const info = await consumer.info().catch(() => undefined);
      if (info?.num_pending === 0) caughtUp.resolve();
    }, 500);
    try {
      if ((await consumer.info(true)).num_pending === 0) caughtUp.resolve();
      await caughtUp.promise;
      return messages;
    } catch (thrown) {
      await messages.close();
      throw thrown;
    } finally {
      clearInterval(look);
    }
  }
}

interface Shard {
  readonly number: number;
  /** Last delivered sequence. */
  delivered: number;
  /** The checkpoint it started from. */
  from: number;
  /** Number of messages read. */
  since: number;
  /** Value of `delivered` at the last check. */
  deliveredBefore: number;
  following: Promise<void> | undefined;
}

function seenIn(message: JsMsg, shard: number): Seen {
  const { run, kind } = runOf(message.subject);
  return {
    run,
    kind,
    shard,
    seq: message.seq,
    time: Number(message.timestampNanos / 1_000n) / 1_000,
    standing: message.headers?.get("V") ?? "",
    origin: message.headers?.get("Q") || undefined,
  };
}
