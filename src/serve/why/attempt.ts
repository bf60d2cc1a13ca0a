import type { ErrorJson } from "../../core/errors/errors.ts";
import type { RunEvent } from "../../core/run/events.ts";
import type { Shares } from "./shares.ts";

/** A gap within a stream counts as a stall from here on, ms. */
const stallFrom = 700;

/** One attempt at a generation, derived from its deltas. */
export class Attempt {
  readonly model: string;
  readonly round: number;
  readonly attempt: number;
  /** Something has arrived. */
  begun = false;
  deltas = 0;
  characters = 0;
  waitMs = 0;
  streamMs = 0;
  /** The longest gap within the stream, and the number of deltas before it. */
  longestGap = 0;
  gapAfter = 0;
  finish: string | undefined;
  error: ErrorJson | undefined;
  #stalls = 0;
  #stalledMs = 0;

  constructor(facts: { readonly model: string; readonly round: number; readonly attempt: number }) {
    this.model = facts.model;
    this.round = facts.round;
    this.attempt = facts.attempt;
  }

  get ms(): number {
    return this.waitMs + this.streamMs;
  }

  spend(part: "providerWait" | "providerStream", ms: number): void {
    if (part === "providerWait") {
      this.waitMs += ms;
      return;
    }
    this.streamMs += ms;
    if (ms > this.longestGap) {
      this.longestGap = ms;
      this.gapAfter = this.deltas;
    }
    if (ms < stallFrom) return;
    this.#stalls += 1;
    this.#stalledMs += ms;
  }

  delta(event: RunEvent): void {
    this.begun = true;
    this.deltas += 1;
    this.characters +=
      "text" in event ? event.text.length : event.type === "tool_call.delta" ? event.arguments.length : 0;
  }

  tellShares(shares: Shares): void {
    if (this.error !== undefined) return shares.add("failedAttempt", this.model, this.ms);
    // A model that is slow with every delta is slow, not stalled.
    const stalled = this.#stalls * 2 > this.deltas ? 0 : this.#stalledMs;
    shares.add("providerWait", this.model, this.waitMs);
    shares.add("providerStream", this.model, this.streamMs - stalled);
    shares.add("providerStall", this.model, stalled);
  }
}
