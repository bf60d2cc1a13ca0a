import type { Attributes } from "@opentelemetry/api";
import { buckets, metrics } from "../base/names.ts";
import type { Distribution } from "./distribution.ts";
import type { Count, Meter } from "./meter.ts";

type Histogram = (attributes: Attributes) => Distribution;
type Counter = (attributes: Attributes) => Count;

/** All metrics. Each is a function from an attribute set to its series. */
export type Instruments = ReturnType<typeof createInstruments>;

export function createInstruments(meter: Meter) {
  const seconds = (name: string, description: string, boundaries: readonly number[] = buckets.duration): Histogram =>
    meter.histogram({ name, description, unit: "s" }, boundaries);
  const counter = (name: string, description: string, unit: string): Counter =>
    meter.counter({ name, description, unit });
  const calls = (name: string, description: string, unit: string): Histogram =>
    meter.histogram({ name, description, unit }, buckets.calls);
  const level = (name: string, description: string, unit: string): Count =>
    meter.level({ name, description, unit })(noAttributes);
  const appendDuration = seconds(
    metrics.appendDuration,
    "Duration of a durable append, all its tries; with an error: of one try that failed",
    buckets.append,
  );
  appendDuration(noAttributes); // Created now, so that the series exists from the start.
  return {
    operationDuration: seconds(metrics.operationDuration, "Duration of a generation"),
    timeToFirstChunk: seconds(metrics.timeToFirstChunk, "Request to first chunk", buckets.firstChunk),
    tokenUsage: meter.histogram(
      { name: metrics.tokenUsage, description: "Tokens of a generation", unit: "{token}" },
      buckets.tokens,
    ),
    agentDuration: seconds(metrics.agentDuration, "Duration of a run, from its start to its end", buckets.run),
    agentGenerations: calls(metrics.agentGenerations, "Generations of a run", "{call}"),
    agentToolCalls: calls(metrics.agentToolCalls, "Tool calls of a run", "{call}"),
    toolDuration: seconds(metrics.toolDuration, "Duration of a tool's execution", buckets.run),
    deliverDuration: seconds(metrics.deliverDuration, "How long a follower was served", buckets.run)(noAttributes),
    memoryDuration: seconds(metrics.memoryDuration, "Duration of a memory's operations, by store and operation"),
    toolCalls: counter(metrics.toolCalls, "Tool calls by outcome", "{call}"),
    eagerSaved: seconds(metrics.eagerSaved, "How much earlier than the generation's end a tool started"),
    quirks: counter(metrics.quirks, "Deviations from a wire format that were tolerated", "{deviation}"),
    unsentFields: counter(metrics.unsentFields, "Request fields that a model did not receive", "{field}"),
    cost: counter(metrics.cost, "What generations cost, where the price is known", "USD"),
    retries: counter(metrics.retries, "Generations tried again on the same model", "{generation}"),
    failovers: counter(metrics.failovers, "Generations tried again on another model", "{generation}"),
    retractions: counter(metrics.retractions, "Attempts at a round that were retracted", "{attempt}"),
    runsActive: level(metrics.runsActive, "Runs under way", "{run}"),
    followersActive: level(metrics.followersActive, "Followers being served", "{follower}"),
    runTiming: counter(metrics.runTiming, "Where runs' time went, by part", "s"),
    stalls: seconds(metrics.stalls, "How long the event loop was blocked", buckets.stall)(noAttributes),
    timePerOutputChunk: seconds(metrics.timePerOutputChunk, "Time between two chunks", buckets.perChunk),
    chunks: counter(metrics.chunks, "Chunks of providers' streams", "{chunk}"),
    chunkBytes: counter(metrics.chunkBytes, "Bytes of providers' chunks", "By"),
    appendDuration,
    accumulateDuration: seconds(
      metrics.accumulateDuration,
      "Time to accumulate a tool-call fragment",
      buckets.micro,
    )(noAttributes),
  };
}

export const noAttributes: Attributes = Object.freeze({});

const mostSets = 20_000;

/** Attribute sets are few and used often, so each is created once, frozen and shared. */
export class AttributeSets {
  readonly #sets = new Map<string, Attributes>();
  readonly #larger = new Map<Attributes, Map<string, Attributes>>();

  of(pairs: Readonly<Record<string, string | undefined>>): Attributes {
    let key = "";
    for (const name in pairs) if (pairs[name] !== undefined) key += `${name}\u0000${pairs[name]}\u0001`;
    let set = this.#sets.get(key);
    if (set === undefined) {
      // Past the limit, sets are no longer cached; a metric's own limit then counts them as overflow.
      if (this.#sets.size >= mostSets) return Object.freeze({ ...pairs });
      set = Object.freeze(Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== undefined)));
      this.#sets.set(key, set);
    }
    return set;
  }

  /** A set from `of` plus one attribute. Cheaper than another `of`, but each `name` may only have few values. */
  with(set: Attributes, name: string, value: string): Attributes {
    const known = this.#larger.get(set)?.get(value);
    if (known !== undefined && known[name] === value) return known;
    const larger = this.of({ ...(set as Record<string, string>), [name]: value }); // All sets contain strings.
    if (this.#larger.size >= mostSets) return larger;
    const its = this.#larger.get(set) ?? new Map<string, Attributes>();
    this.#larger.set(set, its.set(value, larger));
    return larger;
  }
}
