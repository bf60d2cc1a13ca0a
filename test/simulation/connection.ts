import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Append, Hint, Journal, Ownership } from "../../src/core/journal/journal.ts";
import type { KeyValues } from "../../src/core/journal/key-values.ts";
import type { Engine } from "./engine.ts";
import type { Life } from "./world.ts";

const methods = [
  ...["read", "readMany", "enqueue", "claim", "heartbeat", "held", "workers", "release", "free", "signal", "signals"],
  ...["signalsMany", "get", "list", "restore", "prune", "audit", "audits", "keepDigest", "keepWire", "wire", "ping"],
  ...["reserve", "usage", "balances", "totals"],
];

/** Asked again and again, mostly for nothing. */
const polls = new Set(["claim", "heartbeat", "held", "readMany", "signalsMany"]);

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
    if (engine.full && engine.sqlite === undefined && (method === "append" || method === "enqueue")) return "refused";
    if (engine.cutOff.has(life)) return "late";
    if (decisions.chance(profile.refused)) return "refused";
    if (decisions.chance(profile.lost)) return "lost";
    if (decisions.chance(profile.late)) return "late";
    // Nobody promises that a fork may be stored twice.
    return method !== "restore" && decisions.chance(profile.twice) ? "twice" : "good";
  };

  function call(method: string, given: readonly unknown[], taken: (value: unknown) => unknown): Promise<unknown> {
    if (closed) return Promise.reject(failed(method, "the journal has been closed"));
    const fate = fateOf(method);
    // A request that left before a crash may still arrive.
    const isNear = fate === "good" && decisions.chance(profile.near);
    if (fate !== "good") coverage.fault(fate, method);
    return new Promise((resolve, reject) => {
      const answered = (value: unknown) => {
        // Nine of ten polls find nothing: no step is spent on them.
        if (isNear && polls.has(method) && isNothing(value)) resolve(value);
        else if (!life.dead) world.later(life, labels(method).answer, delay(), () => resolve(taken(value)));
      };
      const refused = (error: unknown) => {
        if (!life.dead) world.later(life, labels(method).error, delay(), () => reject(error));
      };
      const answer = () => void effect(method, given).then(answered, refused);
      if (isNear) return answer();
      if (fate === "good") return world.later(undefined, labels(method).request, delay(), answer);
      const quietly = () => void effect(method, given).catch(nothing);
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
          return world.later(undefined, labels(method).request, delay(), answer);
      }
    });
  }

  function effect(method: string, given: readonly unknown[]): Promise<unknown> {
    try {
      return Promise.resolve(engine.apply(method, given));
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  const known = new Map<string, Labels>();
  function labels(method: string): Labels {
    let found = known.get(method);
    if (found === undefined) {
      found = { request: `${method} of ${life.name}`, answer: `${method}: answer`, error: `${method}: error` };
      known.set(method, found);
    }
    return found;
  }

  const stops: (() => void)[] = [];
  let closed = false;
  life.onDeath.add(() => {
    for (const stop of stops) stop();
  });
  /** What comes while a hint is on its way is part of it, as with notifications of a database. */
  const arriving = new Map<(hint: Hint) => void, Hint>();
  const deliver = () => {
    const hints = [...arriving];
    arriving.clear();
    for (const [tell, hint] of hints) tell(hint);
  };
  const own = profile.apart ? copied : (value: unknown) => value;
  const journal: Record<string, unknown> = {
    lease: engine.inner.lease,
    close: async () => {
      closed = true;
      for (const stop of stops) stop();
    },
    blobs: engine.inner.blobs,
    keyValues: keyValuesOf((method, given) => call(method, given, own)),
    append(batch: readonly Append[]) {
      if (closed) return Promise.reject(failed("append", "the journal has been closed"));
      const copies = batch.map((item) => ({
        ...item,
        ownership: { ...item.ownership },
        events: profile.apart ? (copied(item.events) as typeof item.events) : item.events.slice(),
      }));
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
      const hinted = (hint: Hint) => {
        if (life.dead) return;
        if (!engine.calm && decisions.chance(profile.hintLost)) return coverage.count("hint lost");
        const before = arriving.get(callback);
        arriving.set(callback, before === undefined ? hint : joined(before, hint));
        if (arriving.size === 1 && before === undefined) world.later(life, "hint", decisions.below(20), deliver);
      };
      const stop = engine.inner.onHint(hinted, only);
      stops.push(stop);
      return stop;
    },
  };
  for (const method of methods) {
    if (method in engine.inner) journal[method] = (...given: unknown[]) => call(method, own(given) as unknown[], own);
  }
  return journal as unknown as Journal;
}

/** Its operations by their place in the engine. */
const keyValuesOf = (call: (method: string, given: readonly unknown[]) => Promise<unknown>): KeyValues =>
  Object.fromEntries(
    (["get", "put", "remove", "list"] as const).map((name) => [
      name,
      (...given: unknown[]) => call(`keyValues.${name}`, given),
    ]),
  ) as unknown as KeyValues; // each of them is there

interface Labels {
  readonly request: string;
  readonly answer: string;
  readonly error: string;
}

const nothing = () => {};

const failed = (method: string, why: string): VenturiError =>
  new VenturiError(`journal.${method}`, "journal_failed", why);

const isNothing = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.length === 0) || (value instanceof Map && value.size === 0);

const joined = (one: Hint, other: Hint): Hint => ({
  work: one.work || other.work,
  events: (run) => one.events(run) || other.events(run),
  ...(one.signals === undefined && other.signals === undefined
    ? {}
    : { signals: (run) => one.signals?.(run) === true || other.signals?.(run) === true }),
});

const ownershipAt = (copies: readonly Append[], at: number): Ownership => {
  const copy = copies[at];
  if (copy === undefined) throw new Error("a copy for each item");
  return copy.ownership;
};

/** Objects of one process are not objects of another, and functions do not cross a network. */
function copied(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "function" ? undefined : value;
  if (Array.isArray(value)) return value.map(copied);
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, copied(one)]));
  if (value instanceof AbortSignal || ArrayBuffer.isView(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(value)) {
    // A field of that name, not another prototype.
    if (key === "__proto__")
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copied(each)]));
    copy[key] = copied(one);
  }
  return copy;
}
