import type { RunState } from "venturi/plugin";
import type { Stored } from "./stored.ts";

/** How a run stands after a message. Every message of a run carries it, so the last one is the run's row. */
export interface Standing {
  readonly epoch: number;
  readonly head: number;
  readonly state: RunState;
  readonly signals: number;
  readonly cancelled: boolean;
  readonly outcome: "finished" | "failed" | undefined;
  readonly worker: string;
  /** Questions to people that are open. */
  readonly asking: number;
  /** A parked run can be claimed so many ms after this message; 0: only a signal wakes it. */
  readonly wake: number;
}

/** The last message of a run. */
export interface Tail extends Standing {
  readonly seq: number;
  readonly time: number;
}

/** What one message adds: the seq of its first event (0: it has none), and whether it starts an epoch. */
export interface Step {
  readonly first: number;
  readonly claim: boolean;
}

const none: Step = { first: 0, claim: false };

/** The value of the header `V`. The epoch in it is the writer's own, never a copied one: an audit goes by it. */
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
    state: state as RunState, // written from one
    signals: Number(signals),
    cancelled: cancelled === "1",
    outcome: outcome === "finished" || outcome === "failed" ? outcome : undefined,
    claim: claim === "c",
    worker: decodeURIComponent(worker),
    asking: Number(asking),
    wake: Number(wake),
  };
}

/** A standing alone, of something that has more. */
export const standingIn = (from: Standing): Standing => {
  const { epoch, head, state, signals, cancelled, outcome, worker, asking, wake } = from;
  return { epoch, head, state, signals, cancelled, outcome, worker, asking, wake };
};

export const tailOf = (stored: Stored): Tail => ({
  ...standingOf(stored.header("V") ?? ""),
  seq: stored.seq,
  time: stored.time,
});

/** What never changes about a run. `void`: an id that was announced to a session and given up; nothing but the id exists. */
export interface Origin {
  readonly agent: string;
  readonly tenant: string;
  readonly revision?: string | undefined;
  readonly session?: string | undefined;
  readonly key?: string | undefined;
  /** Who started it, if that one may have so many runs only. */
  readonly caller?: string | undefined;
  readonly void?: true | undefined;
}
/** The value of the header `Q`. */
export const originText = (origin: Origin): string => encodeURIComponent(JSON.stringify(origin));
export const originOf = (text: string): Origin => JSON.parse(decodeURIComponent(text)) as Origin; // written from one

/** The fence: the message is stored only if the last one under `filter` has this sequence. */
export const fence = (seq: number, filter: string): string =>
  `Nats-Expected-Last-Subject-Sequence: ${seq}\r\nNats-Expected-Last-Subject-Sequence-Subject: ${filter}\r\n`;
