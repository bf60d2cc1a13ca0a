import { z } from "zod";

const reason = z.string().max(4_000).exactOptional();

/** Kinds of signals and their bodies. */
export const signalBodies = {
  /** `details` become part of the terminal event's error. */
  cancel: z.strictObject({ reason, details: z.record(z.string(), z.unknown()).exactOptional() }),
  approve: z.strictObject({
    /** The call in question, as named by `approval.requested` or `question.asked`. */
    call: z.string().min(1),
    approved: z.boolean(),
    reason,
    by: z.string().max(256).exactOptional(),
    /** Replaces the call's arguments; checked against the tool's schema. */
    arguments: z.record(z.string(), z.unknown()).exactOptional(),
    /** The answer, when a tool asked for something other than approval; checked against the question's schema. */
    answer: z.unknown().exactOptional(),
    /** Covers all later calls of the tool in this run. */
    for: z.literal("run").exactOptional(),
    /**
     * When the question was asked. After a crash a call that may have run is asked about again: a late or repeated answer to the first
     * question must not allow that.
     */
    since: z.number().exactOptional(),
  }),
  /** The run finishes its round and is parked until `resume`. */
  pause: z.strictObject({ reason, by: z.string().max(256).exactOptional() }),
  resume: z.strictObject({ by: z.string().max(256).exactOptional() }),
  message: z.strictObject({ text: z.string().min(1), by: z.string().max(256).exactOptional() }),
} as const;

export type SignalKind = keyof typeof signalBodies;

/** Written by whoever found the run's process dead; never sent by callers. */
export interface Crash {
  /** The epoch that ended with the process. */
  readonly epoch: number;
  /** Whether this run was the cause. If not, another one was, unless that is `unknown`. */
  readonly blamed: boolean;
  readonly unknown?: true;
  /** When the process ended, ms since the epoch. */
  readonly at?: number;
  /** A phrase that continues a sentence starting with the run. */
  readonly cause?: string;
  readonly stack?: string;
}
/** What a journal stores as a signal. */
export type StoredKind = SignalKind | "crashed";
export type SignalBody<Kind extends SignalKind> = z.output<(typeof signalBodies)[Kind]>;

export const isSignalKind = (kind: unknown): kind is SignalKind =>
  typeof kind === "string" && Object.hasOwn(signalBodies, kind);
