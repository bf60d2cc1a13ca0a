import { z } from "zod";
import type { KeptWire } from "./kept-wire.ts";
import { named } from "./schema-names.ts";

/** Figures of one interval of this process. Durations in ms. */
export const Sample = z.strictObject({
  at: z.number(),
  /** Runs that ended in the interval, and how many of them failed. */
  ended: z.number().int(),
  failed: z.number().int(),
  /** Runs executing at its end, and readers of runs. */
  active: z.number().int(),
  followers: z.number().int(),
  /** Duration of the runs that ended; absent when none did. */
  p50: z.number().exactOptional(),
  p95: z.number().exactOptional(),
  /** Mean wait for a model's first token in the rounds of those runs. */
  firstToken: z.number().exactOptional(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** USD, of the runs that ended and whose cost is known; absent when none is. */
  cost: z.number().exactOptional(),
  /** Runs that waited before they asked a model again, and that went on to another model. */
  retried: z.number().int(),
  failedOver: z.number().int(),
  /** Commits to the journal, and their mean and longest duration. */
  commits: z.number().int(),
  commitMs: z.number().exactOptional(),
  longestCommitMs: z.number().exactOptional(),
  /** How long the event loop was blocked in the last ten seconds. */
  blockedMs: z.number(),
  heapBytes: z.number(),
});
export type Sample = z.output<typeof Sample>;

const Provider = z.strictObject({
  name: z.string(),
  type: z.string(),
  breaker: z.enum(["closed", "open", "half-open"]),
  /** Until an open breaker lets a call through again. */
  leftMs: z.number(),
  /** The last failure that counted against it. */
  lastError: z.strictObject({ at: z.number(), code: z.string(), err: z.string() }).exactOptional(),
});

const ToolEntry = z.strictObject({
  name: z.string(),
  description: z.string(),
  effect: z.enum(["pure", "idempotent", "effectful"]),
  approval: z.string(),
  agents: z.array(z.string()),
});

/** The state of the process that answers, and of what it uses. */
export const ServiceView = z.strictObject({
  version: z.string(),
  node: z.string(),
  process: z.number().int(),
  startedAt: z.number(),
  uptimeMs: z.number(),
  ready: z.boolean(),
  /** Why it takes no runs. */
  reason: z.string().exactOptional(),
  revision: z.strictObject({
    hash: z.string(),
    file: z.string().exactOptional(),
    runs: z.number().int(),
    /** Runs that still execute on replaced revisions. */
    runsOnOld: z.number().int(),
  }),
  journal: z.strictObject({ type: z.string(), digests: z.boolean(), pingMs: z.number().exactOptional() }),
  eventLoop: z.strictObject({ blockedMs: z.number(), longestMs: z.number() }),
  runs: z.strictObject({ active: z.number().int(), followers: z.number().int() }),
  agents: z.array(z.string()),
  providers: z.array(Provider),
  models: z.array(z.strictObject({ name: z.string(), chain: z.array(z.string()) })),
  tools: z.array(ToolEntry),
  channels: z.array(z.strictObject({ name: z.string(), type: z.string() })),
  plugins: z.array(z.string()),
  /** As `venturi config show` prints it: secrets masked, with the origin of each value. For keys that may `metrics` too. */
  config: z.string().exactOptional(),
});
export type ServiceView = z.output<typeof ServiceView>;
named("ServiceView", ServiceView);

/** Bytes of a provider's stream next to what they were decoded to. */
export const DecodedWire = z.strictObject({
  wire: z.string(),
  size: z.number().int(),
  chunks: z.array(z.strictObject({ offset: z.number().int(), text: z.string(), deltas: z.array(z.unknown()) })),
  /** Tolerated deviations from the wire's documentation, by name. */
  quirks: z.record(z.string(), z.number().int()),
  /** The recording is longer than what is shown. */
  cut: z.boolean(),
});
export type DecodedWire = z.output<typeof DecodedWire>;

/** What channels can show of the service itself. */
export interface Inspect {
  service(options: { readonly config: boolean }): Promise<ServiceView>;
  /** Samples of the last hour after this time, oldest first, and their distance, ms. */
  series(after: number): { readonly every: number; readonly samples: readonly Sample[] };
  decode(kept: KeptWire): Promise<DecodedWire>;
}
