import type { Attributes, Counter, Histogram, Meter, UpDownCounter } from "@opentelemetry/api";
import { buckets, metrics } from "./names.ts";
import type { Count, Distribution, Tally } from "./tally.ts";

/** Every metric there is. The ones that are recorded for each chunk or read are series of the tally, the others the SDK's. */
export interface Instruments {
  readonly operationDuration: Histogram;
  readonly timeToFirstChunk: Histogram;
  readonly tokenUsage: Histogram;
  readonly agentDuration: Histogram;
  readonly toolDuration: Histogram;
  readonly deliverDuration: Histogram;
  readonly toolCalls: Counter;
  readonly eagerSaved: Histogram;
  readonly quirks: Counter;
  readonly retries: Counter;
  readonly failovers: Counter;
  readonly retractions: Counter;
  readonly runsActive: UpDownCounter;
  readonly followersActive: UpDownCounter;
  readonly runTiming: Histogram;
  readonly timePerOutputChunk: (attributes: Attributes) => Distribution;
  readonly chunks: (attributes: Attributes) => Count;
  readonly chunkBytes: (attributes: Attributes) => Count;
  readonly accumulateDuration: (attributes: Attributes) => Distribution;
  readonly appendDuration: (attributes: Attributes) => Distribution;
}

export function createInstruments(meter: Meter, tally: Tally): Instruments {
  const seconds = (name: string, description: string, boundaries: readonly number[] = buckets.duration) =>
    meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: [...boundaries] } });
  const counter = (name: string, description: string) => meter.createCounter(name, { description });
  return {
    operationDuration: seconds(metrics.operationDuration, "Duration of a generation"),
    timeToFirstChunk: seconds(metrics.timeToFirstChunk, "Request to first chunk", buckets.firstChunk),
    tokenUsage: meter.createHistogram(metrics.tokenUsage, {
      description: "Tokens of a generation",
      unit: "{token}",
      advice: { explicitBucketBoundaries: [...buckets.tokens] },
    }),
    agentDuration: seconds(metrics.agentDuration, "Duration of a run"),
    toolDuration: seconds(metrics.toolDuration, "Duration of a tool's execution"),
    deliverDuration: seconds(metrics.deliverDuration, "How long a follower was served"),
    toolCalls: counter(metrics.toolCalls, "Tool calls by outcome"),
    eagerSaved: seconds(metrics.eagerSaved, "How much earlier than the generation's end a tool started"),
    quirks: counter(metrics.quirks, "Deviations from a wire format that were tolerated"),
    retries: counter(metrics.retries, "Generations tried again on the same model"),
    failovers: counter(metrics.failovers, "Generations tried again on another model"),
    retractions: counter(metrics.retractions, "Attempts at a round that were withdrawn"),
    runsActive: meter.createUpDownCounter(metrics.runsActive, { description: "Runs under way" }),
    followersActive: meter.createUpDownCounter(metrics.followersActive, { description: "Followers being served" }),
    runTiming: seconds(metrics.runTiming, "Where runs' time went, by part"),
    timePerOutputChunk: tally.histogram(
      { name: metrics.timePerOutputChunk, description: "Time between two chunks", unit: "s" },
      buckets.perChunk,
    ),
    chunks: tally.counter({ name: metrics.chunks, description: "Chunks of providers' streams", unit: "{chunk}" }),
    chunkBytes: tally.counter({ name: metrics.chunkBytes, description: "Bytes of providers' chunks", unit: "By" }),
    appendDuration: tally.histogram(
      { name: metrics.appendDuration, description: "Duration of a durable append", unit: "s" },
      buckets.micro,
    ),
    accumulateDuration: tally.histogram(
      { name: metrics.accumulateDuration, description: "Time to accumulate a tool-call fragment", unit: "s" },
      buckets.micro,
    ),
  };
}

/** Attribute sets are few and used often: each is made once, frozen and shared. */
export class AttributeSets {
  readonly #sets = new Map<string, Attributes>();

  of(pairs: Readonly<Record<string, string | undefined>>): Attributes {
    let key = "";
    for (const name in pairs) if (pairs[name] !== undefined) key += `${name}\u0000${pairs[name]}\u0001`;
    let set = this.#sets.get(key);
    if (set === undefined) {
      set = Object.freeze(Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== undefined)));
      this.#sets.set(key, set);
    }
    return set;
  }
}
