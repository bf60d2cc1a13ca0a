import { type Clock, type Journal, type Log, messageOf } from "venturi/plugin";
import type { Lane, Lanes, StoredLane } from "./lanes.ts";
import type { Message } from "./message.ts";
import { nextMessages } from "./next-messages.ts";
import type { Receiver } from "./receiver.ts";
import type { WebhookFigures } from "./webhook-figures.ts";
import { backoff } from "./webhook-options.ts";

/** Pause between pages of lanes with nothing to deliver, ms; the feed announces ended runs. */
const pause = 200;
const rest = 1_000;
const mostHints = 2_000;
/** How long a stop waits for answers to deliveries on their way, ms. */
const patience = 2_000;

export interface CourierDeps {
  readonly webhook: string;
  readonly receiver: Receiver;
  readonly lanes: Lanes;
  readonly figures: WebhookFigures;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  /** False once another replica may deliver. */
  readonly mayDeliver: () => boolean;
}

/**
 * Delivers the messages of one webhook's lanes, a page of lanes at a time and one message per run at a time. Reads the journal like any
 * reader: however slow the receiver, no run waits for it and nothing piles up in memory.
 */
export class Courier {
  readonly #deps: CourierDeps;
  readonly #busy = new Map<string, Promise<void>>();
  /** Lanes that failed here: when to retry, by the monotonic clock. */
  readonly #retryAt = new Map<string, { readonly due: number; readonly failedAt: number }>();
  /** Lanes worked on since the last read of lanes began: what it says of them may be out of date. */
  readonly #touched = new Set<string>();
  readonly #hints = new Set<string>();
  #after: string | undefined;
  /** Cuts off deliveries that a stop does not wait for any longer. */
  #cut = new AbortController();
  #wake: () => void = () => {};

  constructor(deps: CourierDeps) {
    this.#deps = deps;
  }

  hint(run: string): void {
    if (this.#hints.size < mostHints) this.#hints.add(run);
    this.#wake();
  }

  async drive(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#wake(), { once: true });
    const cut = new AbortController();
    this.#cut = cut;
    while (!signal.aborted) {
      try {
        if (!this.#deps.mayDeliver()) {
          await this.#sleep(rest);
          continue;
        }
        await this.#hinted(signal);
        await this.#sleep(await this.#page(signal));
      } catch (thrown) {
        this.#deps.log.warn("webhooks wait for the journal", {
          webhook: this.#deps.webhook,
          error: messageOf(thrown),
        });
        await this.#sleep(rest);
      }
    }
    // The answer to what is on its way is kept; without it, the next process would deliver it again.
    const stop = this.#deps.clock.after(patience, () => cut.abort());
    await Promise.allSettled(this.#busy.values());
    stop();
  }

  /** Keeps this process from working on the lane meanwhile. */
  async alone(key: string, work: () => Promise<void>): Promise<void> {
    while (this.#busy.has(key)) await this.#busy.get(key)?.catch(() => {});
    const done = work().finally(() => {
      this.#busy.delete(key);
      this.#touched.add(key);
      this.#wake();
    });
    this.#busy.set(key, done);
    await done;
  }

  async #hinted(signal: AbortSignal): Promise<void> {
    const { lanes, webhook } = this.#deps;
    for (const run of this.#hints) {
      if (signal.aborted || !this.#deps.receiver.hasRoom) return;
      this.#hints.delete(run);
      this.#touched.clear();
      const stored = await lanes.get(webhook, run);
      // A lane that has to wait is found again with its page.
      if (stored !== undefined && this.#deps.receiver.isFree(stored.lane)) await this.#begin(stored, signal);
    }
  }

  /** Handles one page of lanes; returns how long to wait before the next. */
  async #page(signal: AbortSignal): Promise<number> {
    const { lanes, webhook, receiver } = this.#deps;
    this.#touched.clear();
    const page = await lanes.page(webhook, this.#after);
    let begun = 0;
    for (const stored of page) {
      if (signal.aborted) return 0;
      if (!receiver.hasRoom) return pause; // The rest of the page is handled later.
      this.#after = stored.key;
      if (!receiver.isFree(stored.lane) || !this.#isDue(stored)) continue;
      await this.#begin(stored, signal);
      begun += 1;
    }
    if (page.length > 0) return begun > 0 ? 0 : pause;
    this.#after = undefined;
    return rest;
  }

  #isDue({ key, lane }: StoredLane): boolean {
    if (lane.done || this.#busy.has(key)) return false;
    const known = this.#retryAt.get(key);
    const { clock, receiver } = this.#deps;
    if (known !== undefined) return clock.monotonic() >= known.due || receiver.upSince(lane) > known.failedAt;
    if (lane.retryAt === undefined) return true;
    // Set by another replica. Limited to the backoff itself, whatever the clocks say.
    const wait = Math.min(Math.max(0, lane.retryAt - clock.now()), backoff(lane.attempts, receiver.options.retry));
    this.#retryAt.set(key, { due: clock.monotonic() + wait, failedAt: Number.NEGATIVE_INFINITY });
    return wait === 0;
  }

  #isTaken(key: string): boolean {
    return this.#busy.has(key) || this.#touched.has(key);
  }

  /** Finds what to deliver and starts delivering, without waiting for the receiver. */
  async #begin(stored: StoredLane, signal: AbortSignal): Promise<void> {
    const { key } = stored;
    if (this.#isTaken(key) || stored.lane.done) return;
    const { journal, receiver, webhook, log } = this.#deps;
    const { pending, replayed } = stored.lane;
    const next =
      pending === undefined
        ? await nextMessages(journal, stored.lane, receiver.options)
        : { messages: [pending], place: pending.place, last: replayed === true };
    if (next === undefined || this.#isTaken(key)) return;
    this.alone(key, () => this.#deliver(stored, next, signal)).catch((thrown: unknown) => {
      log.warn("a delivery is tried again", { webhook, run: stored.lane.run, error: messageOf(thrown) });
    });
  }

  async #deliver(
    stored: StoredLane,
    next: { messages: readonly Message[]; place: number; last: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { receiver, lanes, figures } = this.#deps;
    let current: StoredLane | undefined = stored;
    for (const message of next.messages) {
      if (signal.aborted || !this.#deps.mayDeliver() || current === undefined) return;
      const cut = this.#cut.signal;
      const delivered = await receiver.deliver(message, current.lane, cut);
      if (cut.aborted && delivered.kind !== "ok") return;
      const { lane }: StoredLane = current;
      if (delivered.kind === "ok") {
        figures.delivered(this.#deps.clock.now());
        this.#retryAt.delete(stored.key);
        current = await lanes.keep(current, settledAt(lane, message.place));
        continue;
      }
      const attempts = lane.attempts + 1;
      figures.failed(delivered.error, this.#deps.clock.now());
      if (!delivered.final && attempts < receiver.options.attempts) {
        await this.#fail(current, { message, attempts, error: delivered.error, retryAfter: delivered.retryAfter ?? 0 });
        return;
      }
      await this.#bury(lane, message, { attempts, error: delivered.error });
      this.#retryAt.delete(stored.key);
      current = await lanes.keep(current, settledAt(lane, message.place));
    }
    if (current === undefined) return;
    const place = Math.max(current.lane.place, next.place);
    if (next.last) await lanes.keep(current, { ...current.lane, place, done: true });
    else if (next.messages.length === 0) await lanes.keep(current, { ...current.lane, place });
  }

  async #fail(
    stored: StoredLane,
    { message, attempts, error, retryAfter }: { message: Message; attempts: number; error: string; retryAfter: number },
  ): Promise<void> {
    const { clock, lanes, receiver } = this.#deps;
    const wait = Math.max(backoff(attempts, receiver.options.retry), retryAfter);
    const failedAt = clock.monotonic();
    if (this.#retryAt.size >= mostHints) this.#retryAt.clear(); // The stored times apply then.
    this.#retryAt.set(stored.key, { due: failedAt + wait, failedAt });
    await lanes.keep(stored, { ...stored.lane, pending: message, attempts, error, retryAt: clock.now() + wait });
  }

  async #bury(lane: Lane, message: Message, { attempts, error }: { attempts: number; error: string }): Promise<void> {
    const { lanes, figures, webhook, clock, log } = this.#deps;
    const { run, url, headers, tenant } = lane;
    const where = { ...(url && { url }), ...(headers && { headers }), ...(tenant && { tenant }) };
    await lanes.bury({ webhook, run, message, attempts, error, at: clock.now(), ...where });
    figures.buried();
    log.error("a delivery was given up", { webhook, run, id: message.id, attempts, error });
  }

  async #sleep(ms: number): Promise<void> {
    // Waits a little after the first hint, so that a busy feed does not keep it awake.
    if (ms === 0) ms = 5;
    await new Promise<void>((resolve) => {
      const stop = this.#deps.clock.after(ms, resolve);
      this.#wake = () => {
        stop();
        resolve();
      };
    });
  }
}

function settledAt(lane: Lane, place: number): Lane {
  const { pending: _, error: __, retryAt: ___, ...rest } = lane;
  return { ...rest, place, attempts: 0 };
}
