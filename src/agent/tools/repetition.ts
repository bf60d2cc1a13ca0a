import { LimitReached } from "../run/limit-reached.ts";
import { type CallIdentity, isSameCall } from "../state/call-key.ts";
import type { CallState, RoundState } from "../state/round-state.ts";
import type { RunState } from "../state/run-state.ts";
import type { Outcome } from "./outcome.ts";

const toldAt = 3;
const endedAt = 6;

/** Detects a model repeating the same call with the same arguments. */
export class Repetition {
  readonly #state: RunState;

  constructor(state: RunState) {
    this.#state = state;
  }

  /** How many times in a row this call was made, including now. */
  count(call: CallState): number {
    const round = this.#state.round?.inOrder ?? [];
    let times = 1;
    for (let place = round.indexOf(call) - 1; place >= 0; place--) {
      const other = round[place];
      if (other === undefined || !isSameCall(other, call)) return times;
      times += 1;
    }
    const { callHistory } = this.#state;
    return times + inARow(callHistory, callHistory.length, call);
  }

  /** Adds a note for the model from the third repetition on. */
  remark(call: CallState, outcome: Outcome): Outcome {
    const times = this.count(call);
    if (times < toldAt) return outcome;
    const notice = `\n[this is the same call with the same arguments ${times} times in a row; do something else or answer]`;
    return { ...outcome, output: outcome.output + notice };
  }

  /** The limit reached if a call of this round was repeated too often. */
  limitOn(round: RoundState): LimitReached | undefined {
    const calls = round.inOrder;
    const { callHistory } = this.#state;
    const earlier = this.#state.round === round ? callHistory.length : callHistory.length - calls.length;
    if (calls.length === 0 || earlier + calls.length < endedAt) return undefined;
    let last = callHistory[earlier - 1];
    let times = last === undefined ? 0 : inARow(callHistory, earlier, last);
    for (const call of calls) {
      times = last !== undefined && isSameCall(call, last) ? times + 1 : 1;
      last = call;
      if (times >= endedAt) return tooOften();
    }
    return undefined;
  }
}

/** How many consecutive calls before this position equal this one; stops counting at the limit that matters. */
function inARow(history: readonly CallIdentity[], end: number, call: CallIdentity): number {
  let times = 0;
  for (let place = end - 1; place >= 0 && times < endedAt; place--) {
    const other = history[place];
    if (other === undefined || !isSameCall(other, call)) break;
    times += 1;
  }
  return times;
}

const tooOften = (): LimitReached =>
  new LimitReached("repeated_calls", "the model made the same call with the same arguments six times in a row");
