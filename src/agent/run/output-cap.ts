import type { RunEvent } from "../../core/run/events.ts";
import type { Limits } from "./definition.ts";
import { LimitReached } from "./limit-reached.ts";

/** Overhead counted per event, so that a stream of empty fragments reaches the limit too. */
export const perEvent = 64;

/** What the cap needs of its run. */
export interface CappedRun {
  readonly agent: { readonly limits: Pick<Limits, "generationBytes" | "outputBytes"> };
  /** Characters produced by earlier generations. */
  produced: number;
  abort(reason: LimitReached): void;
  throwIfAborted(): void;
}

/** Counts a generation's output and ends the run when the generation or the run exceeds its limit. */
export class OutputCap {
  readonly #run: CappedRun;
  readonly #left: number;
  /** Plain fields: they are compared for every token, and a method call would add to its path. */
  readonly most: number;
  size = 0;

  constructor(run: CappedRun) {
    const { generationBytes, outputBytes } = run.agent.limits;
    const left = outputBytes - run.produced;
    this.#run = run;
    this.#left = left;
    this.most = Math.min(generationBytes, left);
  }

  /** Ends the run; nothing more is read from the provider afterwards. */
  exceeded(): void {
    const { generationBytes, outputBytes } = this.#run.agent.limits;
    const message =
      generationBytes < this.#left
        ? `one generation may produce ${generationBytes} characters`
        : `the run may produce ${outputBytes} characters`;
    this.#end(new LimitReached("max_output", message));
  }

  /** The answer used more tokens than were left. */
  outOfTokens(): void {
    this.#end(new LimitReached("max_tokens", "the answer is longer than the tokens that the run may still use"));
  }

  #end(limit: LimitReached): void {
    this.#run.abort(limit);
    this.#run.throwIfAborted();
  }

  /** The generation has ended, successfully or not: its output counts towards the run. */
  close(): void {
    this.#run.produced += this.size;
    this.size = 0;
  }
}

/** Output characters of earlier generations, counted from the run's events. */
export function producedIn(history: readonly RunEvent[]): number {
  let size = 0;
  for (const event of history) {
    if (event.type === "text.delta" || event.type === "reasoning.delta" || event.type === "refusal.delta")
      size += event.text.length + perEvent;
    else if (event.type === "tool_call.delta") size += event.arguments.length + perEvent;
  }
  return size;
}
