import type { FeedItem } from "../../src/core/run/feed.ts";
import { type ClientParts, passing, servedBy, serverOf } from "./client.ts";

/** What one connection has told so far. */
interface Session {
  /** The process that tells it, and when it was asked to. */
  readonly server: string;
  readonly askedAt: number;
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

  readonly #isAlone: boolean;

  constructor(parts: ClientParts, isAlone: boolean) {
    this.#parts = parts;
    this.#isAlone = isAlone;
  }

  async live(): Promise<void> {
    const { world, profile, coverage } = this.#parts.engine;
    // Where somebody reads the feed already, and has heard of runs that wait.
    if (world.decisions.chance(0.3)) await world.io(undefined, "the watcher comes", world.decisions.below(15_000));
    while (!this.#over) {
      const server = await serverOf(this.#parts);
      this.#leave = new AbortController();
      world.note(`the watcher goes to ${server.life.name}`);
      const session = {
        ...{ server: server.life.name, askedAt: world.now, openedAt: Number.POSITIVE_INFINITY },
        ...{ started: new Set<string>(), ended: new Set<string>() },
      };
      this.#session = session;
      const feed = server.runs.feed({ signal: this.#leave.signal })[Symbol.asyncIterator]();
      while (!this.#over) {
        const step = await servedBy(server, () => feed.next());
        if (step === "dead") break;
        if ("error" in step) {
          if (!passing.has(step.error.code)) world.violated(`the feed failed: ${step.error.message}`);
          break;
        }
        if (step.value.done) break;
        for (const item of step.value.value) this.#see(session, item);
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

  #see(session: Session, item: FeedItem): void {
    const { world } = this.#parts.engine;
    if (world.trace !== undefined && item.type !== "tick")
      world.note(`feed: ${item.type} ${"run" in item ? item.run : ""}`);
    if (item.type === "feed.opened") session.openedAt = world.now;
    const { startedAt, endedAt } = this.#parts.engine;
    if (item.type === "run.started") this.#once(session, item, startedAt);
    if (item.type === "run.finished" || item.type === "run.failed") this.#once(session, item, endedAt);
  }

  #once(
    session: Session,
    { run, type }: FeedItem & { readonly run: string },
    times: ReadonlyMap<string, number>,
  ): void {
    const { engine } = this.#parts;
    const { world, profile } = engine;
    const seen = times === engine.endedAt ? session.ended : session.started;
    if (seen.has(run)) world.violated(`the feed told of ${type} of ${run} twice`);
    seen.add(run);
    // What executes there is told from its beginning on, and what another reader had not heard yet is told to both.
    const isOld = (times.get(run) ?? Number.POSITIVE_INFINITY) < session.askedAt;
    if (isOld && !profile.webhook && this.#isAlone && !engine.wasOwnedBy(run, session.server))
      world.violated(`the feed told of ${type} of ${run} as news, which was over when it was opened`);
  }

  /** Whatever began or ended from its opening to that time was told of: the store has answered for some seconds since. */
  leave(until: number): void {
    const { engine } = this.#parts;
    const { world, coverage } = engine;
    this.#over = true;
    this.#leave?.abort();
    const session = this.#session;
    if (session === undefined || session.openedAt === Number.POSITIVE_INFINITY) return;
    for (const [run, at] of engine.startedAt) {
      if (at <= session.openedAt || at > until || engine.isGone(run)) continue;
      coverage.count("start told by the feed");
      if (!session.started.has(run)) world.violated(`${run}: the feed did not tell of its start`);
    }
    for (const [run, at] of engine.endedAt) {
      if (at <= session.openedAt || at > until || engine.isGone(run)) continue;
      coverage.count("end told by the feed");
      if (!session.ended.has(run)) world.violated(`${run}: the feed did not tell of its end`);
    }
  }
}
