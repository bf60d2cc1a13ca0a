/** Activities that a run's time is charged to, in legend order. `docs/why.md` explains each. */
export const timeParts = [
  "queue",
  "providerWait",
  "providerStream",
  "providerStall",
  "failedAttempt",
  "backoff",
  "tool",
  "approval",
  "hook",
  "client",
  "journal",
  "blocked",
  "gc",
  "down",
  "paused",
  "runtime",
] as const;
export type TimePart = (typeof timeParts)[number];

/** What the run waited for. `name`: the model, tool, question, plugin …; "" if there is none. */
export interface Charged {
  readonly part: TimePart;
  readonly name: string;
}

export interface TimeSegment extends Charged {
  readonly from: number;
  readonly to: number;
}

/** A wait that the events' own times do not show, measured by whoever waited. */
export interface Waited {
  readonly for: TimePart;
  readonly name?: string;
  readonly from: number;
  readonly ms: number;
}

/** The fields of an event that `RunTimes` needs. */
export interface TimedEvent {
  readonly type: string;
  readonly at: number;
  readonly waited?: readonly Waited[];
  readonly call?: string;
  readonly name?: string;
  readonly model?: string;
  readonly retryMs?: number;
  readonly kind?: string;
  readonly agent?: string;
  readonly seq?: number;
  readonly fork?: { readonly after: number };
  readonly error?: { readonly code: string };
}

/** A gap within a stream counts as a stall from here on, ms. */
export const stallFrom = 700;
/** Shorter waits are not recorded, ms. */
export const noticeable = 100;

/** A part's key in the `timing` of a run's last event; some keys are older than the part names. */
export const timingKey = <P extends TimePart>(part: P): TimingKey<P> =>
  (part === "backoff" ? "retryWait" : part === "blocked" ? "stalled" : part) as TimingKey<P>; // Same mapping as the type.

type TimingKey<P extends TimePart> = P extends "backoff" ? "retryWait" : P extends "blocked" ? "stalled" : P;

/** The name a pause is charged under: "" for the run itself. */
export const pausedName = (agent?: string): string => (agent === undefined ? "" : `the agent ${agent}`);

const pieces: ReadonlySet<string> = new Set([
  "text.delta",
  "reasoning.delta",
  "refusal.delta",
  "tool_call.started",
  "tool_call.delta",
]);

/**
 * Whether the event is a delta of the model's answer; the first one ends the wait for it. Fields about the answer come earlier and do not
 * count.
 */
export const isPiece = ({ type, kind }: Pick<TimedEvent, "type" | "kind">): boolean =>
  pieces.has(type) || (type === "provider.activity" && kind !== "response" && kind !== "fields");
