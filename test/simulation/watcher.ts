import type { FeedItem } from "../../src/core/run/feed.ts";
import { type ClientParts, passing, servedBy, serverOf } from "./client.ts";

/** What one connection has told so far. */
interface Session {
  openedAt: number;
  readonly started: Set<string>;
  readonly ended: Set<string>;
}

/** Watches the feed of all runs at one process after the other, as a console does. */
export class Watcher {
  readonly #parts: ClientParts;
  #session: Session | undefined;
  #leave: AbortController | undefined;
  #over = false;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  async live(): Promise<void> {
    const { world, profile, coverage } = this.#parts.engine;
    while (!this.#over) {
      const server = await serverOf(this.#parts);
      this.#leave = new AbortController();
      world.note(`the watcher goes to ${server.life.name}`);
      const feed = server.runs.feed({ signal: this.#leave.signal })[Symbol.asyncIterator]();
      while (!this.#over) {
        const step = await servedBy(server, () => feed.next());
        if (step === "dead") break;
        if ("error" in step) {
          if (!passing.has(step.error.code)) world.violated(`the feed failed: ${step.error.message}`);
          break;
        }
        if (step.value.done) break;
        for (const item of step.value.value) this.#see(item);
        if (!this.#parts.engine.calm && world.decisions.chance(profile.drops)) break;
      }
      this.#session = undefined;
      if (this.#over) return;
      this.#leave.abort();
      void feed.return?.(undefined);
      coverage.count("feed opened again");
      await world.io(undefined, "the watcher comes back", world.decisions.below(1_000));
    }
  }

  #see(item: FeedItem): void {
    const { world } = this.#parts.engine;
    if (world.trace !== undefined && item.type !== "tick")
      world.note(`feed: ${item.type} ${"run" in item ? item.run : ""}`);
    // What is told before it is opened is in the lists that are read then.
    this.#session ??= { openedAt: Number.POSITIVE_INFINITY, started: new Set(), ended: new Set() };
    const session = this.#session;
    if (item.type === "feed.opened") session.openedAt = world.now;
    if (item.type === "run.started") this.#once(session.started, item);
    if (item.type === "run.finished" || item.type === "run.failed") this.#once(session.ended, item);
  }

  #once(seen: Set<string>, { run, type }: FeedItem & { readonly run: string }): void {
    const { world } = this.#parts.engine;
    if (seen.has(run)) world.violated(`the feed told of ${type} of ${run} twice`);
    seen.add(run);
  }

  /** Whatever began or ended since it was opened was told of, once the store has answered for some seconds. */
  leave(): void {
    const { engine } = this.#parts;
    const { world, coverage } = engine;
    this.#over = true;
    this.#leave?.abort();
    const session = this.#session;
    if (session === undefined) return;
    for (const [run, at] of engine.startedAt) {
      if (at <= session.openedAt || engine.isGone(run)) continue;
      coverage.count("start told by the feed");
      if (!session.started.has(run)) world.violated(`${run}: the feed did not tell of its start`);
    }
    for (const [run, at] of engine.endedAt) {
      if (at <= session.openedAt || engine.isGone(run)) continue;
      coverage.count("end told by the feed");
      if (!session.ended.has(run)) world.violated(`${run}: the feed did not tell of its end`);
    }
  }
}
