import { LimitReached } from "../run/limit-reached.ts";
import { callKey } from "../state/call-key.ts";
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
    const key = callKey(call);
    const round = this.#state.round?.inOrder ?? [];
    let times = 1;
    for (let place = round.indexOf(call) - 1; place >= 0; place--) {
      const other = round[place];
      if (other === undefined || callKey(other) !== key) return times;
      times += 1;
    }
    const { callHistory } = this.#state;
    for (let place = callHistory.length - 1; place >= 0 && callHistory[place] === key; place--) times += 1;
    return times;
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
    const { callHistory } = this.#state;
    const keys = round.inOrder.map(callKey);
    const earlier = this.#state.round === round ? callHistory.length : callHistory.length - keys.length;
    let times = 0;
    let last: string | undefined;
    if (earlier > 0 && keys.length > 0) {
      last = callHistory[earlier - 1];
      for (let place = earlier - 1; place >= 0 && callHistory[place] === last && times < endedAt; place--) times += 1;
    }
    for (const key of keys) {
      times = key === last ? times + 1 : 1;
      last = key;
      if (times >= endedAt) return tooOften();
    }
    return undefined;
  }
}

const tooOften = (): LimitReached =>
  new LimitReached("repeated_calls", "the model made the same call with the same arguments six times in a row");
