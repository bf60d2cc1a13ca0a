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
  /** Executing runs and connected readers at the interval's end. */
  active: z.number().int(),
  followers: z.number().int(),
  /** Runs in the journal that no worker has claimed; absent if unknown. */
  queued: z.number().int().exactOptional(),
  /** Durations of the runs that ended; absent when none did. */
  p50: z.number().exactOptional(),
  p95: z.number().exactOptional(),
  /** Mean wait for a model's first token in the rounds of those runs. */
  firstToken: z.number().exactOptional(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** USD, of ended runs whose cost is known; absent when there is none. */
  cost: z.number().exactOptional(),
  /** Runs that waited to retry a model, and runs that failed over to another model. */
  retried: z.number().int(),
  failedOver: z.number().int(),
  /** Commits to the journal, with their mean and longest duration. */
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
  /** The worst state among its models' breakers and its connection breaker. */
  breaker: BreakerState,
  /** Until an open breaker lets a call through. */
  leftMs: z.number(),
  /** The breakers that are not closed. Without `model`: the provider cannot be reached. */
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
  /** Number of the process, from 1. */
  number: z.number().int(),
  pid: z.number().int(),
  status: z.string(),
  startedAt: z.number(),
  /** How often the process with this number was replaced after ending unexpectedly. */
  restarts: z.number().int(),
  /** Executing runs; absent when it did not answer. */
  runs: z.number().int().exactOptional(),
});

/** The journal's workers: processes of this service and its replicas. */
const Replicas = z.strictObject({
  /** False: the journal cannot list workers. */
  known: z.boolean(),
  workers: z.array(
    z.strictObject({
      name: z.string(),
      pid: z.number().int().exactOptional(),
      silentMs: z.number(),
      runs: z.number().int(),
      /** Whether it is the answering process. */
      own: z.boolean(),
      /** Seen within its lease; otherwise it has ended or hangs, and its runs are taken over. */
      alive: z.boolean(),
    }),
  ),
});

/** State of the answering process and of what it uses. */
export const ServiceView = z.strictObject({
  version: z.string(),
  node: z.string(),
  process: z.number().int(),
  startedAt: z.number(),
  uptimeMs: z.number(),
  ready: z.boolean(),
  /** Why it accepts no runs. */
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
  /** Unfinished runs in the journal; absent when it does not respond. */
  backlog: z
    .strictObject({
      ready: z.number().int(),
      running: z.number().int(),
      waiting: z.number().int(),
      /** Claimable runs whose agent is not configured here. */
      unexecutable: z.array(z.strictObject({ agent: z.string(), runs: z.number().int() })),
    })
    .exactOptional(),
  /** Processes of the service on this machine; without a supervisor only the answering one. */
  processes: z.array(ProcessEntry),
  replicas: Replicas,
  agents: z.array(z.string()),
  providers: z.array(Provider),
  models: z.array(z.strictObject({ name: z.string(), chain: z.array(z.string()) })),
  tools: z.array(ToolEntry),
  channels: z.array(z.strictObject({ name: z.string(), type: z.string() })),
  plugins: z.array(z.string()),
  /** As `venturi config show` prints it: secrets masked, with the origin of each value. Only for keys with the scope `metrics`. */
  config: z.string().exactOptional(),
});
export type ServiceView = z.output<typeof ServiceView>;
named("ServiceView", ServiceView);

/** A provider's bytes next to the deltas decoded from them. */
export const DecodedWire = z.strictObject({
  wire: z.string(),
  size: z.number().int(),
  chunks: z.array(z.strictObject({ offset: z.number().int(), text: z.string(), deltas: z.array(z.unknown()) })),
  /** Tolerated deviations from the wire format by name, and their meaning. */
  quirks: z.record(z.string(), z.number().int()),
  notes: z.record(z.string(), z.string()),
  /** The recording is longer than shown. */
  cut: z.boolean(),
});
export type DecodedWire = z.output<typeof DecodedWire>;

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** Name of a dataset, which is also its file name. */
export const datasetName = z
  .string()
  .min(1)
  .max(64)
  .refine((name) => letters.includes(name.charAt(0)) && [...name].every((one) => `${letters}-_`.includes(one)), {
    error: "letters, digits, - and _ only, beginning with a letter or digit",
  });

export interface NewDatasetItem {
  readonly dataset: string;
  readonly run: string;
  readonly tenant: string;
  readonly note?: string;
  readonly id?: string;
}

export const AddedToDataset = z.strictObject({
  dataset: z.string(),
  run: z.string(),
  /** Copy of the run, relative to the set. */
  file: z.string(),
});
export type AddedToDataset = z.output<typeof AddedToDataset>;

/** What channels can show of the service itself. */
export interface Inspect {
  service(options: { readonly config: boolean }): Promise<ServiceView>;
  /** Samples of the last hour after this time, oldest first, and their interval, ms. */
  series(after: number): { readonly every: number; readonly samples: readonly Sample[] };
  /** Decodes with keys masked, as by `mask`. */
  decode(kept: KeptWire): Promise<DecodedWire>;
  /** The same stream with keys masked, at the same length. */
  mask(kept: KeptWire): KeptWire;
  /** A simulator scenario, as YAML, that replays the run's model. */
  fixture(events: readonly RunEvent[]): Promise<string>;
  /** Names of the tenant's datasets. Rejects with `not_found` without a folder for them. */
  datasets(tenant: string): Promise<readonly string[]>;
  /** Adds an ended run to a dataset of its tenant, as `venturi dataset add` does. */
  addToDataset(item: NewDatasetItem): Promise<AddedToDataset>;
}
