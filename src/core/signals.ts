import { z } from "zod";

const reason = z.string().max(4_000).exactOptional();

/** What can be said to a run under way, and what each kind carries. */
export const signalBodies = {
  /** `details` stand in the error of the run's last event. */
  cancel: z.strictObject({ reason, details: z.record(z.string(), z.unknown()).exactOptional() }),
  approve: z.strictObject({
    /** The call that the run asks about, as `approval.requested` names it. */
    call: z.string().min(1),
    approved: z.boolean(),
    reason,
    by: z.string().max(256).exactOptional(),
  }),
  message: z.strictObject({ text: z.string().min(1) }),
} as const;

export type SignalKind = keyof typeof signalBodies;
export type SignalBody<Kind extends SignalKind> = z.output<(typeof signalBodies)[Kind]>;

export const isSignalKind = (kind: unknown): kind is SignalKind =>
  typeof kind === "string" && Object.hasOwn(signalBodies, kind);
