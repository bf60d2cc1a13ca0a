import { MemoryJournal } from "../../plugins/memory/journal.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Append, Claim, Hint, Journal, Ownership } from "../../src/core/journal/journal.ts";
import { encodeEvent } from "../../src/core/run/encode-event.ts";
import { isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import type { Coverage } from "./coverage.ts";
import type { Profile } from "./profile.ts";
import { calmAt, epoch, type Life, type World } from "./world.ts";

interface Ownings {
  readonly run: string;
  readonly epoch: number;
  readonly worker: string;
  readonly head: number;
}

/**
 * The model of every journal's promises: one linearizable store on its own clock, which never fails itself. What goes wrong
 * happens between it and the processes, in `connect`.
 */
export class Engine {
  readonly inner: MemoryJournal;
  readonly world: World;
  readonly profile: Profile;
  readonly coverage: Coverage;
  /** No more faults: from here on everything has to come to its end. */
  calm = false;
  full = false;
  readonly events = new Map<string, RunEvent[]>();
  readonly #encoded = new Map<string, string[]>();
  readonly #claims: Ownings[] = [];
  readonly #sessions = new Map<string, string>();

  constructor(world: World, profile: Profile, coverage: Coverage) {
    this.world = world;
    this.profile = profile;
    this.coverage = coverage;
    const never = () => {
      throw new Error("the store waits for nothing");
    };
    const clock = { now: () => Math.floor(world.now), monotonic: () => world.now, after: never, turn: never };
    this.inner = new MemoryJournal({ clock, keep: 1_000_000, lease: 10_000 });
  }

  head(run: string): number {
    return this.events.get(run)?.length ?? 0;
  }

  shown(run: string, seq: number): string | undefined {
    return this.#encoded.get(run)?.[seq - 1];
  }

  ownerOf(run: string): Ownings | undefined {
    return this.#claims.findLast((claim) => claim.run === run);
  }

  /** One call in one step: its linearization point. Everything that may be said about ownership is checked here. */
  apply(method: string, given: readonly unknown[]): unknown {
    if (method === "append") return this.#append(given[0] as readonly Append[]); // as connect calls it
    const journal = this.inner as unknown as Record<string, (...values: readonly unknown[]) => Promise<unknown>>;
    const answer = journal[method]?.(...given);
    if (method === "signal") answer?.then((taken) => this.#signalled(given as never, taken === true), nothing);
    if (method === "release") this.released.add((given[0] as Ownership).run);
    if (method === "claim") answer?.then((claims) => this.#claimed(claims as Claim[]), nothing);
    if (method === "enqueue") answer?.then((enqueued) => this.#claimed(claimIn(enqueued)), nothing);
    if (method === "restore") answer?.then(() => this.#restored(given[0] as { run: string }), nothing);
    return answer;
  }

  async #restored({ run }: { run: string }): Promise<void> {
    this.restored.add(run);
    this.#keep(run, await this.inner.read(run, 0, 1_000_000));
  }

  #append(batch: readonly Append[]): ReadonlySet<Ownership> {
    const fenced = this.inner.append(batch) as ReadonlySet<Ownership>; // it answers without a promise
    for (const item of batch) {
      const { run, epoch, worker } = item.ownership;
      const first = item.events[0]?.seq ?? 0;
      if (fenced.has(item.ownership)) {
        this.coverage.count("fenced append");
        const later = this.#claims.some((claim) => claim.run === run && claim.epoch > epoch);
        const ended = this.events.get(run)?.some(isTerminal) === true;
        if (!later && !ended && this.ownerOf(run)?.worker === worker && !this.#wasReleased(run))
          this.world.violated(`${worker} was told that it is fenced, but nobody else owns ${run}`);
        continue;
      }
      if (first <= this.head(run)) {
        if (item.events.length > 0) this.coverage.count("append repeated");
        continue;
      }
      if (this.#claims.some((claim) => claim.run === run && claim.epoch > epoch && claim.head < first))
        this.world.violated(`${run}: event ${first} was written by epoch ${epoch}, which is fenced`);
      this.#keep(run, item.events);
      if (item.state === "waiting") this.coverage.count("park");
      if (item.state === "ready") this.released.add(run);
      if (item.state === "done" || item.state === "waiting") this.#leave(run);
    }
    return fenced;
  }

  /** Forks. */
  readonly restored = new Set<string>();
  readonly released = new Set<string>();
  #wasReleased(run: string): boolean {
    return this.released.has(run);
  }

  #keep(run: string, events: readonly RunEvent[]): void {
    const stored = this.events.get(run) ?? [];
    const encoded = this.#encoded.get(run) ?? [];
    for (const event of events) {
      if (event.seq !== stored.length + 1) this.world.violated(`${run}: event ${event.seq} follows ${stored.length}`);
      if (stored.some(isTerminal)) this.world.violated(`${run}: ${event.type} after its end`);
      stored.push(event);
      encoded.push(encodeEvent(event));
      this.world.note(`store: ${run} ${event.seq} ${event.type}`);
      this.coverage.event(event.type);
      if (event.type === "approval.resolved") this.#resolved(run, event.call);
    }
    this.events.set(run, stored);
    this.#encoded.set(run, encoded);
  }

  #claimed(claims: readonly Claim[]): void {
    for (const { ownership, request } of claims) {
      const { run, epoch, worker, head } = ownership;
      this.released.delete(run);
      this.#claims.push({ run, epoch, worker, head });
      this.world.note(`store: ${worker} owns ${run}, epoch ${epoch}, from ${head}`);
      if (epoch > 1) this.coverage.count("takeover");
      if (request.session !== undefined) this.#enter(request.session, run);
    }
  }

  /** Two runs of one session never write at the same time; a cancelled one may end out of turn. */
  #enter(session: string, run: string): void {
    const other = this.#sessions.get(session);
    this.#sessions.set(session, run);
    if (other === undefined || other === run || this.events.get(other)?.some(isTerminal)) return;
    if (!this.cancelled.has(run) && !this.cancelled.has(other))
      this.world.violated(`${run} and ${other} of one session are executed at the same time`);
  }

  /** Where nothing goes wrong but hints, a cancel ends a run within seconds. */
  #signalled(
    [run, { kind, body }]: readonly [string, { kind: string; body: { call?: string } }],
    taken: boolean,
  ): void {
    if (taken && kind === "approve") this.#answered(run, body.call ?? "");
    if (!taken || kind !== "cancel" || !isPlain(this.profile)) return;
    this.world.later(undefined, "a cancel has had its time", 5_000 + 20 * this.profile.delay, () => {
      const ended = this.events.get(run)?.some(isTerminal) === true || !this.#claims.some((claim) => claim.run === run);
      if (!ended) this.world.violated(`${run}: a cancel has no effect`);
    });
  }

  /** Calls whose question got an answer, and when, by run. */
  readonly #answers = new Map<string, number>();

  #answered(run: string, call: string): void {
    this.#answers.set(`${run} ${call}`, this.world.now);
  }

  /** An answer is taken within the time of a takeover once nothing goes wrong any more, and long before its question times out. */
  #resolved(run: string, call: string): void {
    const answered = this.#answers.get(`${run} ${call}`) ?? this.world.now;
    const late = this.world.now - Math.max(answered, epoch + calmAt);
    if (late > 40_000)
      this.world.violated(`${run}: an answer about ${call} was not taken for ${Math.round(late / 1_000)} s`);
  }

  readonly cancelled = new Set<string>();

  #leave(run: string): void {
    for (const [session, owner] of this.#sessions) if (owner === run) this.#sessions.delete(session);
  }
}

const nothing = () => {};
const isPlain = ({ slow, refused, lost, late, twice, fullDisk, crashes, drains }: Profile): boolean =>
  slow + refused + lost + late + twice + fullDisk + crashes + drains === 0;
const claimIn = (enqueued: unknown): readonly Claim[] => {
  const { claim } = enqueued as { claim?: Claim };
  return claim === undefined ? [] : [claim];
};

const failed = (method: string, why: string): VenturiError =>
  new VenturiError(`journal.${method}`, "journal_failed", why);

const methods = [
  ...["read", "readMany", "enqueue", "claim", "heartbeat", "held", "workers", "release", "free", "signal", "signals"],
  ...["signalsMany", "get", "list", "restore", "prune", "audit", "audits", "keepDigest", "keepWire", "wire", "ping"],
];

/** The journal as one process reaches it: each call is a request, an effect and an answer, and each may be late or lost. */
export function connect(engine: Engine, life: Life): Journal {
  const { world, profile, coverage } = engine;
  const { decisions } = world;
  const delay = (): number => {
    if (engine.calm) return decisions.below(5);
    return decisions.chance(profile.slow) ? decisions.between(500, 15_000) : decisions.between(0, profile.delay);
  };
  const fateOf = (method: string): "good" | "refused" | "lost" | "late" | "twice" => {
    if (engine.calm) return "good";
    if (engine.full && (method === "append" || method === "enqueue")) return "refused";
    for (const fate of ["refused", "lost", "late", "twice"] as const) {
      // Nobody promises that a fork may be stored twice.
      if (method === "restore" && fate === "twice") continue;
      if (decisions.chance(profile[fate])) return fate;
    }
    return "good";
  };

  function call(method: string, given: readonly unknown[], taken: (value: unknown) => unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const fate = fateOf(method);
      if (fate !== "good") coverage.fault(fate, method);
      const effect = (): Promise<unknown> => {
        try {
          return Promise.resolve(engine.apply(method, given));
        } catch (thrown) {
          return Promise.reject(thrown);
        }
      };
      const quietly = () => void effect().catch(nothing);
      const answer = () => {
        effect().then(
          (value) => life.dead || world.later(life, `${method}: answer`, delay(), () => resolve(taken(value))),
          (error) => life.dead || world.later(life, `${method}: error`, delay(), () => reject(error)),
        );
      };
      const giveUp = (why: string, ms: number) => {
        if (!life.dead) world.later(life, `${method}: ${why}`, ms, () => reject(failed(method, why)));
      };
      switch (fate) {
        case "refused":
          return giveUp("refused", delay());
        case "lost":
          return world.later(undefined, `${method} of ${life.name}, whose answer is lost`, delay(), () => {
            quietly();
            giveUp("no answer", 3_000);
          });
        case "late":
          giveUp("no answer yet", 3_000);
          return world.later(undefined, `${method} of ${life.name}, late`, 3_000 + decisions.below(20_000), quietly);
        case "twice":
          world.later(undefined, `${method} of ${life.name}, again`, delay() + delay(), quietly);
          return world.later(undefined, `${method} of ${life.name}`, delay(), answer);
        case "good":
          // A request that left before a crash may still arrive.
          return world.later(undefined, `${method} of ${life.name}`, delay(), answer);
      }
    });
  }

  const stops: (() => void)[] = [];
  life.onDeath.push(() => {
    for (const stop of stops) stop();
  });
  const journal: Record<string, unknown> = {
    lease: engine.inner.lease,
    close: async () => {},
    blobs: engine.inner.blobs,
    append(batch: readonly Append[]) {
      const copies = batch.map(copyOf);
      const mine = (fenced: unknown) =>
        new Set(
          batch
            .filter((_, at) => (fenced as Set<Ownership>).has(ownershipAt(copies, at)))
            .map(({ ownership }) => ownership),
        );
      if (profile.sync && !(engine.full && !engine.calm)) return mine(engine.apply("append", [copies]));
      return call("append", [copies], mine);
    },
    onHint(callback: (hint: Hint) => void, only?: "control") {
      const stop = engine.inner.onHint((hint) => {
        if (life.dead) return;
        if (!engine.calm && decisions.chance(profile.hintLost)) return coverage.count("hint lost");
        world.later(life, "hint", decisions.below(20), () => callback(hint));
      }, only);
      stops.push(stop);
      return stop;
    },
  };
  for (const method of methods) {
    if (method in engine.inner)
      journal[method] = (...given: unknown[]) => call(method, copied(given) as unknown[], copied);
  }
  return journal as unknown as Journal;
}

/** Objects of one process are not objects of another. */
const copyOf = (item: Append): Append => ({
  ...item,
  ownership: { ...item.ownership },
  events: item.events.map((event) => JSON.parse(encodeEvent(event)) as RunEvent), // its own encoding
});

const ownershipAt = (copies: readonly Append[], at: number): Ownership => {
  const copy = copies[at];
  if (copy === undefined) throw new Error("a copy for each item");
  return copy.ownership;
};

/** Also without what cannot cross a network: signals and functions. */
function copied(value: unknown): unknown {
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, copied(one)]));
  if (value instanceof AbortSignal || typeof value === "function") return undefined;
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copied(one)]));
}
