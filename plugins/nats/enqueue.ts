import { randomUUID } from "node:crypto";
import { keyMemory } from "venturi/internal";
import { type Claim, type Enqueue, VenturiError } from "venturi/plugin";
import type { Callers, LimitedCaller } from "./callers.ts";
import { aboutNow } from "./engine-time.ts";
import { failed } from "./failures.ts";
import type { Names } from "./names.ts";
import { isRemoved, isTombstone } from "./removed-keys.ts";
import { type Asked, readRequest } from "./requests.ts";
import type { SessionName, Sessions } from "./sessions.ts";
import { fence, originText, type Standing, standingText } from "./standing.ts";
import { pause, type Store } from "./store.ts";
import { bytesOf, textOf } from "./stored.ts";
import type { Tails } from "./tails.ts";
import type { View } from "./view.ts";

export interface EnqueueingOptions {
  readonly store: Store;
  readonly names: Names;
  readonly view: View;
  readonly tails: Tails;
  readonly sessions: Sessions;
  readonly callers: Callers;
}

const op = "journal.enqueue";

/**
 * Starting runs. An idempotency key first reserves the run's id, in a separate message: a process that finds the key but no run
 * creates it under that id, so a crash in between costs nothing.
 */
export class Enqueueing {
  readonly #options: EnqueueingOptions;

  constructor(options: EnqueueingOptions) {
    this.#options = options;
  }

  async enqueue(item: Enqueue): Promise<{ run: string; existing: boolean; claim?: Claim }> {
    const { tails, callers } = this.#options;
    const { tenant, session, key, request, claimFor } = item;
    let { run } = item;
    if (key !== undefined) {
      const subject = this.#options.names.key(tenant, key);
      const reserved = await this.#reserve(subject, run);
      run = reserved.run;
      if (reserved.removed) return { run, existing: true };
      if (reserved.existing) {
        const there = await readRequest(op, this.#options, run);
        if (there) return this.#existing(item, run, there);
        // Removed since the key was read: the key is marked before the run is deleted.
        if (await isRemoved(op, this.#options, { subject, run })) return { run, existing: true };
      }
    }
    const caller = limited(item);
    if ((session !== undefined || caller) && (await tails.read(op, run))) throw taken(op, run);
    if (caller) await callers.enter(op, caller, run);
    const busy = session !== undefined && (await this.#enterSession({ ...item, run }, { tenant, session }));
    const worker = busy ? undefined : claimFor;
    const standing: Standing = {
      epoch: worker === undefined ? 0 : 1,
      head: 0,
      state: worker === undefined ? "ready" : "running",
      signals: 0,
      cancelled: false,
      outcome: undefined,
      worker: worker ?? "",
      asking: 0,
      wake: 0,
    };
    const created = await this.#create({ ...item, run }, standing);
    if (!("seq" in created)) return this.#existing(item, run, created.other);
    if (worker === undefined) return { run, existing: false };
    tails.set(run, { ...standing, seq: created.seq, time: aboutNow() });
    const ownership = { run, session, epoch: 1, worker, head: 0 };
    return { run, existing: false, claim: { ownership, tenant, request, signals: 0 } };
  }

  /** A run refused by its session releases its caller's slot. */
  async #enterSession(item: Enqueue, of: SessionName): Promise<boolean> {
    const { sessions, callers } = this.#options;
    try {
      return await sessions.enter(op, of, item);
    } catch (thrown) {
      const caller = limited(item);
      if (caller) await callers.leave(op, caller, item.run);
      throw thrown;
    }
  }

  #existing(item: Enqueue, run: string, there: Asked): { run: string; existing: boolean } {
    if (there.origin.void)
      throw new VenturiError(op, "journal_failed", `the run ${run} took too long to store, and its session went on`);
    const { tenant, key } = there.origin;
    if (item.key === undefined || key !== item.key || tenant !== item.tenant) throw taken(op, run);
    return { run, existing: true };
  }

  async #create(item: Enqueue, standing: Standing): Promise<{ seq: number } | { other: Asked }> {
    const { store, names, view } = this.#options;
    const { run, tenant, session, key, request } = item;
    const deadline = performance.now() + store.timeout;
    const nonce = randomUUID();
    const claim = standing.state === "running";
    const text = standingText(standing, { first: 0, claim });
    const { agent, revision } = request;
    const origin = originText({ agent, tenant, revision, session, key, caller: limited(item)?.id });
    const write = {
      subject: names.run(run, "q"),
      fence: fence(0, names.run(run, "*")),
      headers: `V: ${text}\r\nQ: ${origin}\r\nN: ${nonce}\r\n`,
      data: bytesOf(JSON.stringify(request)),
    };
    for (;;) {
      const ack = await store.write(op, write);
      // After a lost response the nonce tells whether it was stored.
      const there = ack.kind === "stored" ? undefined : await readRequest(op, this.#options, run);
      if (there && there.nonce !== nonce) return { other: there };
      const seq = ack.kind === "stored" ? ack.seq : there?.seq;
      if (seq !== undefined) {
        view.apply({ run, shard: names.shardOf(run), kind: "q", seq, time: aboutNow(), standing: text, origin });
        return { seq };
      }
      if (performance.now() > deadline)
        throw failed(op, ack.kind === "lost" ? ack.why : "the run is being stored by someone else");
      await pause(20);
    }
  }

  /**
   * The run that owns the key, until a day after its removal; unless its id was voided, which only happens to a run that was never
   * created.
   */
  async #reserve(subject: string, run: string): Promise<{ run: string; existing: boolean; removed?: boolean }> {
    const { store, names } = this.#options;
    const deadline = performance.now() + store.timeout;
    for (let seq = 0; ; ) {
      const ack = await store.write(op, { subject, fence: fence(seq, subject), headers: "", data: bytesOf(run) });
      if (ack.kind === "stored") return { run, existing: false };
      const there = await store.last(op, names.index, subject);
      if (there) {
        const first = textOf(there.data);
        if (isTombstone(there)) {
          if (aboutNow() - there.time <= keyMemory) return { run: first, existing: true, removed: true };
        } else if (first === run || !(await this.#isVoid(first))) return { run: first, existing: true };
      }
      seq = there?.seq ?? 0;
      if (performance.now() > deadline)
        throw failed(op, ack.kind === "lost" ? ack.why : "others keep writing to the key");
      await pause(5);
    }
  }

  async #isVoid(run: string): Promise<boolean> {
    return (await readRequest(op, this.#options, run))?.origin.void === true;
  }
}

function limited({ tenant, request: { caller } }: Enqueue): LimitedCaller | undefined {
  return caller?.concurrentRuns === undefined ? undefined : { tenant, id: caller.id, most: caller.concurrentRuns };
}

export const taken = (op: string, run: string): VenturiError =>
  new VenturiError(op, "conflict", `the run ${run} already exists`);
