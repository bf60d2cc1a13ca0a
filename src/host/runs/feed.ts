import { messageOf } from "../../core/errors/errors.ts";
import type { Claim, Journal } from "../../core/journal/journal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import { beginning, type DigestFold, inputText } from "../../core/run/digest.ts";
import { isStep, isTerminal, type RunEvent } from "../../core/run/events.ts";
import { type FeedItem, FeedPart, type FeedQuery } from "../../core/run/feed.ts";
import { RunTimes } from "../../core/run/run-times.ts";
import { isPiece, type TimePart, timingKey } from "../../core/run/time-parts.ts";
import type { Followers } from "../../journal/followers.ts";
import { ElsewhereWatch } from "./feed-elsewhere.ts";
import { FeedReader } from "./feed-reader.ts";

/** Interval for reporting active runs and looking for runs of other processes, ms. */
const period = 1_000;

/** Maximum runs per tick, so that a reader gets a few kB a second however many there are. */
const mostTicking = 50;

interface FeedDeps {
  readonly journal: Journal;
  readonly followers: Followers;
  readonly clock: Clock;
  readonly log: Log;
}

/** A run that executes in this process. */
interface Executing {
  readonly claim: Claim;
  readonly digest: DigestFold;
  /** Counted from when this process took over the run, each time somebody starts watching. */
  tokens: number;
  times: RunTimes;
  /** Set while somebody watches the feed. */
  abort: AbortController | undefined;
}

/**
 * A live feed of all runs, for readers that watch the service. Runs of this process are followed as by any reader; those of other processes
 * are found in the journal's lists once a second. Costs nothing without readers.
 */
export class Feed {
  readonly #deps: FeedDeps;
  readonly #readers = new Set<FeedReader>();
  readonly #executing = new Map<string, Executing>();
  #elsewhere: ElsewhereWatch;
  #stopTimer: (() => void) | undefined;

  constructor(deps: FeedDeps) {
    this.#deps = deps;
    this.#elsewhere = this.#watchElsewhere();
  }

  /** A run starts executing here; call the returned function when it stops. */
  began(claim: Claim, digest: DigestFold): () => void {
    const { run } = claim.ownership;
    const executing: Executing = { claim, digest, tokens: 0, times: new RunTimes(), abort: undefined };
    this.#executing.set(run, executing);
    if (this.#readers.size > 0) this.#follow(executing);
    return () => {
      if (this.#executing.get(run) === executing) this.#executing.delete(run);
      executing.abort?.abort();
    };
  }

  async *watch(query: FeedQuery): AsyncGenerator<readonly FeedItem[]> {
    const reader = new FeedReader(query, this.#deps.clock);
    this.#readers.add(reader);
    try {
      if (this.#readers.size === 1) await this.#start();
      else await this.#elsewhere.ready;
      reader.take({ type: "feed.opened", at: this.#deps.clock.now() });
      yield* reader.items();
    } finally {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.#stop();
    }
  }

  async #start(): Promise<void> {
    for (const executing of this.#executing.values()) this.#follow(executing);
    this.#tick();
    await this.#elsewhere.begin();
  }

  #stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#elsewhere.end();
    this.#elsewhere = this.#watchElsewhere();
    for (const executing of this.#executing.values()) {
      executing.abort?.abort();
      executing.abort = undefined;
    }
  }

  /** A new watch each time somebody starts watching, so that a read still in progress for an old one does not affect it. */
  #watchElsewhere(): ElsewhereWatch {
    return new ElsewhereWatch(this.#deps.journal, {
      isHere: (run) => this.#executing.has(run),
      tell: (tenant, item) => this.#tell(tenant, item),
      foretell: (tenant, item) => {
        for (const reader of this.#readers) if (reader.wants(tenant, item)) reader.takeEarly(item);
      },
    });
  }

  #follow(executing: Executing): void {
    if (executing.abort !== undefined) return;
    executing.abort = new AbortController();
    executing.tokens = 0;
    executing.times = new RunTimes();
    const { signal } = executing.abort;
    this.#pump(executing, signal).catch((thrown: unknown) => {
      const { run } = executing.claim.ownership;
      this.#deps.log.warn("a run is missing from the feed", { run, error: messageOf(thrown) });
    });
  }

  async #pump(executing: Executing, signal: AbortSignal): Promise<void> {
    const { ownership } = executing.claim;
    const after = this.#elsewhere.toldUpTo(ownership);
    for await (const batch of this.#deps.followers.follow(ownership.run, { after, signal })) {
      for (const event of batch) this.#see(executing, event);
    }
  }

  #see(executing: Executing, event: RunEvent): void {
    executing.times.take(event);
    if (isPiece(event)) executing.tokens += 1;
    if (!isStep(event)) return;
    const { claim, digest } = executing;
    const item = itemOf(claim, event, digest);
    if (item !== undefined && this.#elsewhere.isNews(claim, event)) this.#tell(claim.tenant, item);
  }

  #tell(tenant: string, item: FeedItem): void {
    for (const reader of this.#readers) if (reader.wants(tenant, item)) reader.take(item);
  }

  readonly #tick = (): void => {
    this.#stopTimer = this.#deps.clock.after(period, this.#tick);
    const at = this.#deps.clock.now();
    for (const reader of this.#readers) {
      const runs: { run: string; tokens: number; part: FeedPart }[] = [];
      for (const { claim, tokens, times } of this.#executing.values()) {
        if (runs.length === mostTicking) break;
        if (!reader.mayKnow(claim.tenant, claim.request.agent)) continue;
        runs.push({ run: claim.ownership.run, tokens, part: partOf(times.now.part) });
      }
      if (runs.length > 0) reader.take({ type: "tick", at, runs });
    }
    void this.#elsewhere.look();
  };
}

function itemOf(claim: Claim, event: RunEvent, digest: DigestFold): FeedItem | undefined {
  const { run, at } = event;
  const { agent, session, parent, caller } = claim.request;
  const base = { run, agent, at };
  switch (event.type) {
    case "run.started":
      return {
        type: "run.started",
        ...base,
        ...(session === undefined ? {} : { session }),
        ...(parent === undefined ? {} : { parent: parent.run }),
        ...(caller === undefined ? {} : { by: caller.id }),
        input: beginning(inputText(event.input), 200),
      };
    case "round.started":
      return { type: "round.started", ...base, round: event.round, model: event.model, attempt: event.attempt };
    case "approval.requested":
    case "question.asked": {
      const { type, call, name, until } = event;
      return { type, ...base, call, name, ...(until === undefined ? {} : { until }) };
    }
    case "approval.resolved":
      return { type: "approval.resolved", ...base, call: event.call, approved: event.approved };
    case "question.answered":
      return { type: "question.answered", ...base, call: event.call, answered: event.answered };
    default:
      return isTerminal(event) ? { type: event.type, ...base, digest: digest.end(event).digest } : undefined;
  }
}

const partOf = (part: TimePart): FeedPart => {
  const known = FeedPart.safeParse(timingKey(part));
  return known.success ? known.data : "runtime";
};
