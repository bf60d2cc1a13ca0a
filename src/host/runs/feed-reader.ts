import type { Clock } from "../../core/ports/clock.ts";
import type { FeedItem, FeedQuery } from "../../core/run/feed.ts";

/** Maximum items queued for a slow reader. */
const mostQueued = 1_000;

/** Queued runs remembered per reader; older ones may be reported twice. */
const mostEarly = 10_000;

/** One reader of the feed. A slow reader loses items and gets a notice, instead of making memory grow. */
export class FeedReader {
  readonly #query: FeedQuery;
  readonly #clock: Clock;
  #queue: FeedItem[] = [];
  /** Runs reported to it while they were queued. */
  readonly #early = new Set<string>();
  #wake: (() => void) | undefined;

  constructor(query: FeedQuery, clock: Clock) {
    this.#query = query;
    this.#clock = clock;
    query.signal?.addEventListener("abort", () => this.#wake?.(), { once: true });
  }

  mayKnow(tenant: string, agent: string): boolean {
    const { tenant: own, agent: only, agents } = this.#query;
    return (
      (own === undefined || own === tenant) &&
      (only === undefined || only === agent) &&
      (agents?.includes(agent) ?? true)
    );
  }

  wants(tenant: string, item: FeedItem): boolean {
    return "agent" in item && this.mayKnow(tenant, item.agent);
  }

  take(item: FeedItem): void {
    if (item.type === "run.started" && this.#early.delete(item.run)) return;
    if (this.#queue.length >= mostQueued) {
      this.#queue = [{ type: "feed.gap", at: this.#clock.now() }];
      this.#early.clear();
    }
    this.#queue.push(item);
    this.#wake?.();
  }

  /** Reports the start of a queued run; not repeated when it begins. */
  takeEarly(item: FeedItem & { readonly run: string }): void {
    this.take(item);
    this.#early.add(item.run);
    for (const run of this.#early) {
      if (this.#early.size <= mostEarly) return;
      this.#early.delete(run);
    }
  }

  async *items(): AsyncGenerator<readonly FeedItem[]> {
    const { signal } = this.#query;
    while (!signal?.aborted) {
      if (this.#queue.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const items = this.#queue;
      this.#queue = [];
      yield items;
    }
  }
}
