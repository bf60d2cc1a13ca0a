import type { ErrorJson } from "../../core/errors/errors.ts";
import type { RunEvent } from "../../core/run/events.ts";

/** One attempt at a generation, derived from its deltas. */
export class Attempt {
  readonly model: string;
  readonly round: number;
  deltas = 0;
  characters = 0;
  /** The longest gap within the stream, and the number of deltas before it. */
  longestGap = 0;
  gapAfter = 0;
  finish: string | undefined;
  error: ErrorJson | undefined;
  readonly #since: number;
  #at: number;

  constructor({ model, round, at }: { readonly model: string; readonly round: number; readonly at: number }) {
    this.model = model;
    this.round = round;
    this.#since = at;
    this.#at = at;
  }

  get ms(): number {
    return this.#at - this.#since;
  }

  delta(event: RunEvent): void {
    this.goOn(event.at);
    this.deltas += 1;
    this.characters +=
      "text" in event ? event.text.length : event.type === "tool_call.delta" ? event.arguments.length : 0;
  }

  /** Extends the attempt up to this time. */
  goOn(at: number): void {
    const gap = at - this.#at;
    this.#at = Math.max(this.#at, at);
    if (this.deltas === 0 || gap <= this.longestGap) return;
    this.longestGap = gap;
    this.gapAfter = this.deltas;
  }
}
