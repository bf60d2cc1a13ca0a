import type { VenturiError } from "../core/errors/errors.ts";
import type { Delta, DoneDelta } from "../core/model/deltas.ts";
import { mergeUsage, type Usage } from "../core/model/usage.ts";
import { Accumulator, type OpenCall } from "./accumulate.ts";

/** A complete generation, folded from its deltas. */
export class Transcript {
  text = "";
  reasoning = "";
  refusal = "";
  usage: Usage | undefined;
  done: DoneDelta | undefined;
  error: VenturiError | undefined;
  readonly #accumulator = new Accumulator();

  get calls(): readonly OpenCall[] {
    return this.#accumulator.open;
  }

  push(deltas: readonly Delta[]): void {
    for (const delta of deltas) this.#fold(delta);
  }

  #fold(delta: Delta): void {
    switch (delta.type) {
      case "text":
        this.text += delta.text;
        break;
      case "reasoning":
        this.reasoning += delta.text;
        break;
      case "refusal":
        this.refusal += delta.text;
        break;
      case "tool_call":
        this.#accumulator.push(delta);
        break;
      case "usage":
        this.usage = mergeUsage(this.usage, delta.usage);
        break;
      case "done":
        this.done = delta;
        this.#accumulator.finish(delta.finish);
        break;
      case "error":
        this.error ??= delta.error;
        break;
      case "response":
      case "activity":
        break;
    }
  }
}
