import { z } from "zod";
import type { RunEvent } from "../run/events.ts";
import type { KeptWire } from "../run/kept-wire.ts";
import { named } from "../values/schema-names.ts";

/** Figures of one interval of this process. Durations in ms. */
export const Sample = z.strictObject({
  at: z.number(),
  /** Runs that ended in the interval, and how many of them failed. */
  ended: z.number().int(),
  failed: z.number().int(),
  /** Runs executing at its end, and readers of runs. */
  active: z.number().int(),
  followers: z.number().int(),
  /** Runs of the whole journal that no worker has taken up yet; absent when it cannot tell. */
  queued: z.number().int().exactOptional(),
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

const BreakerState = z.enum(["closed", "open", "half-open"]);

const Provider = z.strictObject({
  name: z.string(),
  type: z.string(),
  /** The worst of its models' breakers and of that of its connections. */
  breaker: BreakerState,
  /** Until an open breaker lets a call through again. */
  leftMs: z.number(),
  /** The breakers that are not closed. Without a model: no connection can be made. */
  open: z
    .array(
      z.strictObject({
        model: z.string().exactOptional(),
        state: BreakerState,
        leftMs: z.number(),
        /** Number of tenants it is open for; for all when absent. */
        tenants: z.number().int().exactOptional(),
      }),
    )
    .exactOptional(),
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

const ProcessEntry = z.strictObject({
  /** Place among the processes, from 1. */
  number: z.number().int(),
  pid: z.number().int(),
  status: z.string(),
  startedAt: z.number(),
  /** How often the process in this place was replaced because it ended by itself. */
  restarts: z.number().int(),
  /** Runs under way; absent when it did not answer. */
  runs: z.number().int().exactOptional(),
});

/** Workers of the journal: processes of this service and of its replicas. */
const Replicas = z.strictObject({
  /** False: the journal cannot tell of workers. */
  known: z.boolean(),
  workers: z.array(
    z.strictObject({
      name: z.string(),
      pid: z.number().int().exactOptional(),
      silentMs: z.number(),
      runs: z.number().int(),
      /** The process that answers. */
      own: z.boolean(),
      /** Heard of within the lease; otherwise it has ended or hangs, and others take its runs over. */
      alive: z.boolean(),
    }),
  ),
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
  /** Unfinished runs of the journal, of all processes; absent when it does not answer. */
  backlog: z
    .strictObject({
      ready: z.number().int(),
      running: z.number().int(),
      waiting: z.number().int(),
      /** Runs that could go on, but whose agent is not configured here. */
      unexecutable: z.array(z.strictObject({ agent: z.string(), runs: z.number().int() })),
    })
    .exactOptional(),
  /** Of the service on this machine, under its supervisor; the one that answers without one. */
  processes: z.array(ProcessEntry),
  replicas: Replicas,
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
  /** Tolerated deviations from the wire's documentation, by name, and what each means. */
  quirks: z.record(z.string(), z.number().int()),
  notes: z.record(z.string(), z.string()),
  /** The recording is longer than what is shown. */
  cut: z.boolean(),
});
export type DecodedWire = z.output<typeof DecodedWire>;

/** What channels can show of the service itself. */
export interface Inspect {
  service(options: { readonly config: boolean }): Promise<ServiceView>;
  /** Samples of the last hour after this time, oldest first, and their distance, ms. */
  series(after: number): { readonly every: number; readonly samples: readonly Sample[] };
  /** Keys in it masked, as in what `mask` gives. */
  decode(kept: KeptWire): Promise<DecodedWire>;
  /** The same stream with keys masked, byte for byte. */
  mask(kept: KeptWire): KeptWire;
  /** A simulator's scenario, as YAML, that plays a run's model again. */
  fixture(events: readonly RunEvent[]): Promise<string>;
}
