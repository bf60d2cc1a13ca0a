import { VenturiError } from "venturi/plugin";
import { readBulk } from "./bulk.ts";
import { readCheckpoint, type StreamInfo, writeCheckpoint } from "./checkpoint.ts";
import { failed } from "./failures.ts";
import { flat, Lane, seenIn } from "./lane.ts";
import type { Names } from "./names.ts";
import { standingOf } from "./standing.ts";
import { pause, type Store } from "./store.ts";
import { type ChangeKind, kinds, type Seen, type View } from "./view.ts";

/**
 * Minimum state changes between checkpoints. With more open runs than this, their number instead: writing them then costs the same per
 * change.
 */
const checkpointEvery = 5_000;
/** State changes before a failed checkpoint is retried. */
const retryAfter = 500;
/** Ended runs added to the view at once. */
const blockLength = 10_000;

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
  #loading: Promise<void> | undefined;
  #read = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#shards = Array.from({ length: options.names.shards }, (_, number) => this.#newShard(number));
  }

  /** Number of messages read from the streams. */
  get read(): number {
    return this.#read;
  }

  /** Resolves when it has caught up with the streams; retries as long as a request may take. */
  async follow(op: string): Promise<void> {
    const deadline = performance.now() + this.#options.store.timeout;
    for (;;) {
      try {
        await Promise.all(this.#shards.map((shard) => this.#followShard(op, shard)));
        return;
      } catch (thrown) {
        if (VenturiError.isInstance(thrown)) throw thrown;
        if (performance.now() > deadline) throw failed(op, thrown instanceof Error ? thrown.message : String(thrown));
        await pause(100);
      }
    }
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
  async caughtUp(patience: number): Promise<void> {
    const deadline = performance.now() + patience;
    const { view } = this.#options;
    const isBehind = ({ number, lanes }: Shard) =>
      lanes.some(({ kind, delivered }) => view.applied(number, kind) > delivered);
    while (this.#shards.some(isBehind) && performance.now() < deadline) await pause(2);
  }

  async close(): Promise<void> {
    await Promise.all(this.#shards.flatMap(({ lanes }) => lanes.map((lane) => lane.close())));
  }

  #newShard(number: number): Shard {
    const { store, names, domain } = this.#options;
    const take = (seen: Seen) => {
      this.#take(shard, seen);
      this.#saveIfDue(shard);
    };
    const shard: Shard = {
      number,
      lanes: kinds.map((kind) => new Lane({ store, names, domain, shard: number, kind, take })),
      from: 0,
      started: false,
      unsaved: 0,
      saving: false,
      following: undefined,
    };
    return shard;
  }

  #followShard(op: string, shard: Shard): Promise<void> {
    shard.following ??= this.#start(op, shard).catch((thrown: unknown) => {
      shard.following = undefined;
      throw thrown;
    });
    return shard.following;
  }

  /** After a failure it continues where it was. */
  async #start(op: string, shard: Shard): Promise<void> {
    const { view } = this.#options;
    if (!shard.started) {
      const checkpoint = await readCheckpoint(op, this.#options, shard.number);
      shard.started = true;
      shard.from = checkpoint?.seq ?? 0;
      for (const lane of shard.lanes) lane.delivered = shard.from;
      for (const known of checkpoint?.runs ?? []) view.keep(known);
    }
    // Requests first: other changes mean nothing without them.
    const upTo = (await this.#info(op, shard)).state.last_seq;
    for (const lane of shard.lanes) {
      const after = lane.delivered;
      await this.#readBulk(op, shard, { kind: lane.kind, after, upTo }, (seen) => {
        // A read of the last message per subject cannot be continued from the middle.
        if (after > 0) lane.delivered = seen.seq;
        this.#take(shard, seen);
      });
      lane.delivered = Math.max(lane.delivered, upTo);
    }
    await Promise.all(shard.lanes.map((lane) => lane.follow(op)));
    this.#saveIfDue(shard);
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
      .catch(() => {}) // The next one will do.
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
    const reached = await Promise.all(shard.lanes.map((lane) => lane.reaches(seq)));
    if (!last || reached.includes(false)) {
      shard.unsaved -= retryAfter;
      return;
    }
    // The view may be ahead of `seq`; later changes are delivered again, without effect.
    const runs = [...view.open()].filter((known) => known.shard === shard.number);
    const checkpoint = { seq, time: last.time, created, runs };
    await writeCheckpoint(op, this.#options, { shard: shard.number, checkpoint });
    shard.unsaved -= unsaved;
  }

  /** Runs that ended before the checkpoint. */
  async #load(op: string, shard: Shard): Promise<void> {
    if (shard.from === 0) return;
    const { view } = this.#options;
    const { state } = await this.#info(op, shard);
    const range = { after: 0, upTo: state.last_seq };
    const ended = new Map<string, Seen>();
    const texts = new Map<string, string>(); // Most have ended alike.
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
      // A block must not span a known run.
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
