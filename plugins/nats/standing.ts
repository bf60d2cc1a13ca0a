import type { Outcome, RunState } from "venturi/plugin";
import type { Stored } from "./stored.ts";

/** A run's state after a message. Every message carries it, so the last one serves as the run's row. */
export interface Standing {
  readonly epoch: number;
  readonly head: number;
  readonly state: RunState;
  readonly signals: number;
  readonly cancelled: boolean;
  readonly outcome: Outcome | undefined;
  readonly worker: string;
  /** Number of open questions. */
  readonly asking: number;
  /** A parked run becomes claimable this many ms after this message; 0: only a signal wakes it. */
  readonly wake: number;
}

/** The last message of a run. */
export interface Tail extends Standing {
  readonly seq: number;
  readonly time: number;
}

/** What a message adds: the seq of its first event (0: none), and whether it starts an epoch. */
export interface Step {
  readonly first: number;
  readonly claim: boolean;
}

const states: readonly RunState[] = ["done", "running", "ready", "waiting"];
const none: Step = { first: 0, claim: false };

/** Value of the header `V`. Its epoch is the writer's own, never copied: fencing audits rely on that. */
export function standingText(standing: Standing, { first, claim }: Step = none): string {
  const { epoch, head, state, signals, cancelled, outcome, worker, asking, wake } = standing;
  const flags = `${cancelled ? 1 : 0} ${outcome ?? "-"} ${claim ? "c" : "-"}`;
  return `${epoch} ${first} ${head} ${state} ${signals} ${flags} ${encodeURIComponent(worker)} ${asking} ${wake}`;
}

export function standingOf(text: string): Standing & Step {
  const [epoch, first, head, state, signals, cancelled, outcome, claim, worker = "", ...more] = text.split(" ");
  const [asking = "0", wake = "0"] = more;
  return {
    epoch: Number(epoch),
    first: Number(first),
    head: Number(head),
    state: states.find((known) => known === state) ?? (state as RunState), // Written from one; reuses the constant instead of a new string.
    signals: Number(signals),
    cancelled: cancelled === "1",
    outcome: outcome === "finished" || outcome === "failed" || outcome === "cancelled" ? outcome : undefined,
    claim: claim === "c",
    worker: decodeURIComponent(worker),
    asking: Number(asking),
    wake: Number(wake),
  };
}

/** Picks the standing out of a larger object. */
export const standingIn = (from: Standing): Standing => {
  const { epoch, head, state, signals, cancelled, outcome, worker, asking, wake } = from;
  return { epoch, head, state, signals, cancelled, outcome, worker, asking, wake };
};

export const tailOf = (stored: Stored): Tail => ({
  ...standingOf(stored.header("V") ?? ""),
  seq: stored.seq,
  time: stored.time,
});

/** A run's immutable properties. `void`: an id that was reserved and given up; nothing but the id exists. */
export interface Origin {
  readonly agent: string;
  readonly tenant: string;
  readonly revision?: string | undefined;
  readonly session?: string | undefined;
  readonly key?: string | undefined;
  /** Its caller, if that one has a run limit. */
  readonly caller?: string | undefined;
  readonly void?: true | undefined;
}
/** Value of the header `Q`. */
export const originText = (origin: Origin): string => encodeURIComponent(JSON.stringify(origin));
export const originOf = (text: string): Origin => JSON.parse(decodeURIComponent(text)) as Origin; // Written from one.

/** The fence: stored only if the last message under `filter` has this sequence. */
export const fence = (seq: number, filter: string): string =>
  `Nats-Expected-Last-Subject-Sequence: ${seq}\r\nNats-Expected-Last-Subject-Sequence-Subject: ${filter}\r\n`;
