import { choices, type Routing } from "../../src/agent/run/definition.ts";
import type { Decisions } from "./decisions.ts";
import { type WireName, wireNames } from "./wire-names.ts";

/** What may happen in a history, and how often. Most histories leave most faults out (swarm testing). */
export interface Profile {
  readonly runs: number;
  readonly workers: number;
  /** Longest ordinary delay of the store, ms. */
  readonly delay: number;
  /** Probabilities of a store call: late by seconds, refused, answer lost, applied after the caller gave up, applied twice. */
  readonly slow: number;
  readonly refused: number;
  readonly lost: number;
  readonly late: number;
  readonly twice: number;
  readonly hintLost: number;
  /** The disk is full for this many ms, from a random time on: appends are refused. */
  readonly fullDisk: number;
  readonly crashes: number;
  readonly drains: number;
  /** Crashes and drains are those of the first process; the others go on. */
  readonly isFirstWeak: boolean;
  /** Error of the second process's wall clock, ms. */
  readonly skew: number;
  readonly providerFails: number;
  /** Probability that a client leaves after a batch of events, and comes back elsewhere. */
  readonly drops: number;
  readonly cancels: number;
  readonly steers: number;
  readonly denies: number;
  readonly edits: number;
  readonly forks: number;
  readonly removes: number;
  /** Somebody watches the feed of all runs. */
  readonly watched: boolean;
  /** Runs share one session. */
  readonly session: boolean;
  /** Probability that nobody answers a question in time. */
  readonly ignores: number;
  /** Longest time until a person answers, ms. */
  readonly answer: number;
  /** Three calls ask at a time, and some are answered at once, before their process knows that the question is stored. */
  readonly hurried: boolean;
  /** Probability that a request reaches the store at once, and a poll that finds nothing is answered at once. */
  readonly near: number;
  /** Objects are copied between a process and the store. */
  readonly apart: boolean;
  /** The journal answers appends without a promise, as one in memory does. */
  readonly sync: boolean;
  /** Tokens that all runs together may use; 0: no budget. */
  readonly budget: number;
  /** A schedule, by what happens when its last run is still under way. */
  readonly schedule: "none" | "queue" | "skip" | "cancel";
  /** A receiver is told of runs, and fails so often. */
  readonly webhook: boolean;
  readonly receiverFails: number;
  /** The configuration is reloaded, by one process after the other. */
  readonly reloads: boolean;
  readonly pauses: number;
  /** A guard takes a word out of what the model says, and stops calls with it or asks about them. */
  readonly guarded: "none" | "block" | "ask";
  /** A second model takes over from one that fails. */
  readonly failover: boolean;
  /** How one of two models is chosen, and when the other one is asked as well, ms; 0: never. */
  readonly choose: Routing["choose"];
  readonly sticky: boolean;
  readonly hedgeAfter: number;
  /** Tokens that a model can read, and what happens to a conversation with more; 0: any number. */
  readonly contextTokens: number;
  readonly compaction: "drop" | "summary";
  /** The agent has a document, notes, and is told of them. */
  readonly remembers: boolean;
  readonly tenants: number;
  /** Runs that a process executes at once. */
  readonly activeRuns: number;
  /** Schedules of another tenant, due at the same times. */
  readonly crowd: number;
  /** Bytes that a process may hold for its callers. */
  readonly memory: number;
  /** A tool asks a person for something that only they know. */
  readonly asks: boolean;
  /** Models think before they speak. */
  readonly reasons: boolean;
  /** Probability that a model refuses to answer. */
  readonly refuses: number;
  /** The model is offered only those tools that it has found. */
  readonly defers: boolean;
  /** The agent has a skill, of which each configuration has another edition. */
  readonly skilled: boolean;
  /** Models answer in the bytes of this wire; undefined: in deltas, as a decoder makes them. */
  readonly wire: WireName | undefined;
}

/** The store does what it is asked, in its time. */
export const isReliable = ({ slow, refused, lost, late, twice, fullDisk }: Profile): boolean =>
  slow + refused + lost + late + twice + fullDisk === 0;

/** A process has memory for one run, whatever its size, and claims the next one when that has ended. */
export const isShort = ({ memory }: Profile): boolean => memory <= 1_000;

const shares = [0, 0.02, 0.1, 0.3];

export function profileOf(decisions: Decisions): Profile {
  const share = (often: number) => (decisions.chance(often) ? decisions.pick(shares) : 0);
  // What a process hands over before the others have seen it is what a feed misses.
  const watched = decisions.chance(0.25);
  const remembers = decisions.chance(0.2);
  // Somebody has to take it from somebody.
  const hasLittle = decisions.chance(0.1);
  const schedule = decisions.chance(0.12) ? decisions.pick(["queue", "skip", "cancel"] as const) : "none";
  const session = decisions.chance(0.3);
  const forks = share(0.3);
  const hurried = decisions.chance(0.08);
  const [slow, lost, late] = [hurried ? 0.1 : share(0.3), share(0.4), share(0.3)];
  // Somebody elsewhere answers a question of which its process does not know yet that it is stored.
  const isUnsure = slow + lost + late > 0;
  const reloads = decisions.chance(0.15);
  const wire = decisions.chance(0.15) ? decisions.pick(wireNames) : undefined;
  // Of two processes that come and go, one knows a schedule from a later time than the other.
  const isAhead = schedule !== "none" && decisions.chance(0.5);
  return {
    runs: decisions.chance(0.6) ? decisions.between(6, 16) : decisions.between(1, 6),
    workers: isAhead ? 2 : decisions.between(isUnsure ? 2 : 1, 3),
    delay: decisions.pick([0, 3, 30, 300]),
    slow,
    refused: share(0.4),
    lost,
    late,
    twice: share(0.3),
    hintLost: decisions.chance(0.3) ? decisions.pick([0, 0.3, 1]) : 0,
    fullDisk: decisions.chance(0.1) ? decisions.between(0, 40_000) : 0,
    // What a call has stored is found again when it is repeated.
    crashes: decisions.chance(isAhead ? 0.9 : 0.6) ? decisions.between(isAhead ? 1 : 0, remembers ? 6 : 3) : 0,
    isFirstWeak: decisions.chance(isAhead ? 0.8 : 0.1),
    drains: decisions.chance(watched ? 0.7 : 0.2) ? decisions.between(0, 2) : 0,
    skew: isAhead ? decisions.between(10_000, 60_000) : decisions.chance(0.2) ? decisions.between(-60_000, 60_000) : 0,
    providerFails: share(0.3),
    drops: share(isUnsure ? 0.8 : 0.5),
    // A fork of a cancelled run is not cancelled.
    cancels: share(forks > 0 ? 0.7 : 0.3),
    steers: share(0.3),
    denies: share(0.2),
    edits: share(0.2),
    forks,
    removes: share(session ? 0.5 : 0.2),
    ignores: share(0.2),
    session,
    hurried,
    answer: decisions.pick(hurried ? [30_000] : isUnsure ? [300, 0] : [5_000, 300, 0, 30_000]),
    sync: decisions.chance(0.2),
    near: decisions.pick([0.9, 0.95, 0.8, 0]),
    apart: decisions.chance(0.1),
    watched,
    budget: decisions.chance(0.2) ? 125 * decisions.between(1, 40) : 0,
    schedule,
    // It reads the feed too: two readers that come at different times share what is known.
    webhook: decisions.chance(watched ? 0.5 : 0.08),
    receiverFails: decisions.pick(shares),
    reloads,
    pauses: share(0.2),
    guarded: decisions.chance(0.15) ? decisions.pick(["block", "ask"] as const) : "none",
    failover: decisions.chance(0.2),
    choose: decisions.chance(0.3) ? decisions.pick(choices) : "order",
    sticky: decisions.chance(0.3),
    hedgeAfter: decisions.chance(0.3) ? decisions.pick([100, 300, 1_000]) : 0,
    contextTokens: decisions.chance(0.15) ? decisions.pick([600, 1_000, 2_000]) : 0,
    compaction: decisions.chance(0.6) ? "summary" : "drop",
    remembers,
    tenants: hasLittle || decisions.chance(0.25) ? 2 : 1,
    activeRuns: decisions.chance(watched ? 0.5 : 0.15) ? decisions.between(1, 4) : 100,
    crowd: decisions.chance(0.3) ? 9 : 0,
    memory: hasLittle ? decisions.pick([100, 200, 400, 1_000]) : 1_000_000_000,
    asks: decisions.chance(0.15),
    // The simulator plugin cannot sign reasoning, which is checked where models think.
    reasons: wire === undefined && decisions.chance(0.2),
    refuses: share(0.15),
    defers: decisions.chance(0.08),
    skilled: decisions.chance(reloads ? 0.7 : 0.02),
    wire,
  };
}
