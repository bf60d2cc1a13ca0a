import type { Consumer, ConsumerMessages } from "@nats-io/jetstream";
import { type Headers, readBulk } from "./bulk.ts";
import { readCheckpoint, type StreamInfo, writeCheckpoint } from "./checkpoint.ts";
import { type Names, runOf } from "./names.ts";
import { standingOf } from "./standing.ts";
import { pause, type Store } from "./store.ts";
import { type ChangeKind, kinds, type Seen, type View } from "./view.ts";

/** State changes between checkpoints. With more open runs than this, as many as there are: writing them costs the same per change. */
const checkpointEvery = 5_000;
/** State changes until a checkpoint is tried again that came at a bad moment. */
const retryAfter = 500;
/** Ended runs that enter the view at once. */
const blockLength = 10_000;
/** Interval of checks for stalled consumers, ms. */
const watchEvery = 5_000;

export interface FeedOptions {
  readonly store: Store;
  readonly names: Names;
  readonly view: View;
  readonly domain: string | undefined;
}

/**
 * Maintains the view: ordered consumers, one per stream and kind, deliver every state change. It starts from a checkpoint of the
 * unfinished runs; ended ones are read only for listing and pruning.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #shards: Shard[];
  readonly #consuming = new Set<ConsumerMessages>();
  #loading: Promise<void> | undefined;
  #read = 0;
  #closed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#shards = Array.from({ length: options.names.shards }, (_, number) => ({
      number,
      lanes: kinds.map((kind) => ({
        kind,
        delivered: 0,
        deliveredBefore: -1,
        name: "",
        order: 0,
        consumer: undefined,
      })),
      from: 0,
      started: false,
      unsaved: 0,
      saving: false,
      following: undefined,
    }));
  }

  /** Number of messages read from the streams. */
  get read(): number {
    return this.#read;
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
    const { view } = this.#options;
    const isBehind = ({ number, lanes }: Shard) =>
      lanes.some(({ kind, delivered }) => view.applied(number, kind) > delivered);
    while (this.#shards.some(isBehind) && performance.now() < deadline) await pause(2);
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

  /** After a failure it goes on where it was. */
  async #start(op: string, shard: Shard): Promise<void> {
    const { view } = this.#options;
    if (!shard.started) {
      const checkpoint = await readCheckpoint(op, this.#options, shard.number);
      shard.started = true;
      shard.from = checkpoint?.seq ?? 0;
      for (const lane of shard.lanes) lane.delivered = shard.from;
      for (const known of checkpoint?.runs ?? []) view.keep(known);
    }
    // Requests first: the other changes are nothing without them.
    const upTo = (await this.#info(op, shard)).state.last_seq;
    for (const lane of shard.lanes) {
      const after = lane.delivered;
      await this.#readBulk(op, shard, { kind: lane.kind, after, upTo }, (seen) => {
        // Read as the last of each subject it can't be continued from the middle.
        if (after > 0) lane.delivered = seen.seq;
        this.#take(shard, seen);
      });
      lane.delivered = Math.max(lane.delivered, upTo);
    }
    await Promise.all(shard.lanes.map((lane) => lane.consumer ?? this.#consume(op, shard, lane)));
    this.#saveIfDue(shard);
  }

  /** Resolves when caught up; continues until closed. */
  async #consume(op: string, shard: Shard, lane: Lane): Promise<void> {
    const { consumer, messages } = await this.#catchUp(op, shard, lane);
    lane.consumer = consumer;
    const watch = setInterval(() => this.#watch(lane, { consumer, messages }).catch(() => {}), watchEvery).unref(); // checked again later
    messages.closed().then(() => {
      clearInterval(watch);
      return this.#restart(shard, lane);
    });
  }

  /** Recreates a consumer that delivers nothing although there is something for it, or that its server has lost. */
  async #watch(lane: Lane, { consumer, messages }: { consumer: Consumer; messages: ConsumerMessages }): Promise<void> {
    const { delivered } = lane;
    if (delivered !== lane.deliveredBefore) {
      lane.deliveredBefore = delivered;
      return;
    }
    const behind = await isBehind(consumer, lane).catch(isConsumerGone);
    if (behind && lane.delivered === delivered) await messages.close();
  }

  /** nats.js recreates an ordered consumer itself; this covers the cases it gives up on. */
  async #restart(shard: Shard, lane: Lane): Promise<void> {
    for (let wait = 100; !this.#closed; wait = Math.min(2_000, wait * 2)) {
      await pause(wait);
      try {
        if (!this.#closed) return await this.#consume("journal.follow", shard, lane);
      } catch {
        // retried
      }
    }
  }

  #take(shard: Shard, seen: Seen): void {
    this.#read += 1;
    shard.unsaved += 1;
    this.#options.view.apply(seen);
  }

  #saveIfDue(shard: Shard): void {
    if (shard.unsaved < checkpointEvery || shard.saving || shard.unsaved < this.#options.view.openCount) return;
    shard.saving = true;
    this.#checkpoint("journal.checkpoint", shard)
      .catch(() => {}) // the next one will do
      .finally(() => {
        shard.saving = false;
      });
  }

  /** Up to the stream's end, which all its consumers must have reached. */
  async #checkpoint(op: string, shard: Shard): Promise<void> {
    const { store, names, view } = this.#options;
    const { unsaved } = shard;
    const { created, state } = await this.#info(op, shard);
    const seq = state.last_seq;
    const last = await store.at(op, names.stream(shard.number), seq);
    const reached = await Promise.all(shard.lanes.map((lane) => this.#reaches(lane, seq)));
    if (!last || reached.includes(false)) {
      shard.unsaved -= retryAfter;
      return;
    }
    // The view may be ahead of `seq`; the rest is delivered again, with no effect.
    const runs = [...view.open()].filter((known) => known.shard === shard.number);
    const checkpoint = { seq, time: last.time, created, runs };
    await writeCheckpoint(op, this.#options, { shard: shard.number, checkpoint });
    shard.unsaved -= unsaved;
  }

  /** Waits until everything up to `seq` was delivered. A kind that is rare says little itself about how far that is. */
  async #reaches(lane: Lane, seq: number): Promise<boolean> {
    for (let left = 100; left > 0 && !this.#closed; left--) {
      if (lane.delivered >= seq) return true;
      if (lane.consumer && !(await isBehind(lane.consumer, lane))) return true;
      await pause(20);
    }
    return false;
  }

  /** Runs that ended before the checkpoint. */
  async #load(op: string, shard: Shard): Promise<void> {
    if (shard.from === 0) return;
    const { view } = this.#options;
    const { state } = await this.#info(op, shard);
    const range = { after: 0, upTo: state.last_seq };
    const ended = new Map<string, Seen>();
    const texts = new Map<string, string>(); // most have ended alike
    await this.#readBulk(op, shard, { kind: "x", ...range }, (seen) => {
      if (standingOf(seen.standing).state !== "done" || view.get(seen.run)) return;
      const standing = texts.get(seen.standing) ?? flat(seen.standing);
      if (texts.size < 10_000) texts.set(standing, standing);
      ended.set(seen.run, { ...seen, standing });
    });
    let block: [Seen, Seen][] = [];
    await this.#readBulk(op, shard, { kind: "q", ...range }, (seen) => {
      const last = ended.get(seen.run);
      const isKnown = view.get(seen.run) !== undefined;
      if (last && !isKnown) block.push([seen, last]);
      ended.delete(seen.run);
      // No known run may be between those of a block.
      if (block.length < blockLength && !isKnown) return;
      view.keepEnded(block);
      block = [];
    });
    view.keepEnded(block);
  }

  #info(op: string, { number }: Shard): Promise<StreamInfo> {
    const { store, names } = this.#options;
    return store.api<StreamInfo>(op, `STREAM.INFO.${names.stream(number)}`, {});
  }

  #readBulk(
    op: string,
    { number }: Shard,
    { kind, after, upTo }: { kind: ChangeKind; after: number; upTo: number },
    take: (seen: Seen) => void,
  ): Promise<void> {
    const { store, names } = this.#options;
    const range = { stream: names.stream(number), filter: names.runs(number, kind), after, upTo };
    return readBulk(op, store, range, (message) => take(seenIn(message, number, kind)));
  }

  /** Delivers what the stream has after `delivered`, then live messages; resolves when nothing is pending. */
  async #catchUp(
    op: string,
    shard: Shard,
    lane: Lane,
  ): Promise<{ readonly consumer: Consumer; readonly messages: ConsumerMessages }> {
    const { store, names, domain } = this.#options;
    const { kind } = lane;
    const { DeliverPolicy, jetstream } = await import("@nats-io/jetstream");
    const client = jetstream(await store.link.connection(op), domain === undefined ? {} : { domain });
    const consumer = await client.consumers.get(names.stream(shard.number), {
      filter_subjects: [names.runs(shard.number, kind)],
      headers_only: true,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: lane.delivered + 1,
    });
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
        lane.delivered = seq;
        lane.name = info.consumer;
        lane.order = info.deliverySequence;
        this.#take(shard, seenIn({ subject, seq, time, header }, shard.number, kind));
        this.#saveIfDue(shard);
        if (info.pending === 0) caughtUp.resolve();
      },
    });
    this.#consuming.add(messages);
    messages.closed().then((reason) => {
      this.#consuming.delete(messages);
      lane.consumer = undefined;
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
      return { consumer, messages };
    } catch (thrown) {
      await messages.close();
      throw thrown;
    } finally {
      clearInterval(look);
    }
  }
}

/** The consumer of one kind of change. */
interface Lane {
  readonly kind: ChangeKind;
  /** Last delivered sequence. */
  delivered: number;
  /** Value of `delivered` at the last check. */
  deliveredBefore: number;
  /** The consumer that delivered the last message, and the message's place among those it delivered. */
  name: string;
  order: number;
  /** Absent until it follows, and while it is made anew. */
  consumer: Consumer | undefined;
}

interface Shard {
  readonly number: number;
  readonly lanes: readonly Lane[];
  /** The checkpoint it started from. */
  from: number;
  /** Whether the checkpoint was read. */
  started: boolean;
  /** Number of changes since this process started or wrote a checkpoint. */
  unsaved: number;
  saving: boolean;
  following: Promise<void> | undefined;
}

/** Whether the consumer's server has more for it than has arrived. It moves `delivered.stream_seq` past what does not match, too. */
async function isBehind(consumer: Consumer, lane: Lane): Promise<boolean> {
  const { name, num_pending: pending, delivered } = await consumer.info();
  const { consumer_seq: sent } = delivered;
  return pending > 0 || (sent > 0 && (name !== lane.name || sent > lane.order));
}

/** Rethrows what says nothing about the consumer. */
function isConsumerGone(thrown: unknown): true {
  if (thrown instanceof Error && /consumer not found/i.test(thrown.message)) return true;
  throw thrown;
}

function seenIn({ subject, seq, time, header }: Headers, shard: number, kind: ChangeKind): Seen {
  const { run } = runOf(subject);
  return { run: flat(run), kind, shard, seq, time, standing: header("V") ?? "", origin: header("Q"), delivered: true };
}

/** A copy: a part of a string keeps the whole of it, here a message's subject or headers, in memory. */
const flat = (text: string): string => Buffer.from(text).toString();
