import { VenturiError } from "../../core/errors/errors.ts";
import type { ActivityDelta, ReasoningDelta, RefusalDelta, TextDelta } from "../../core/model/deltas.ts";
import type { NativeAnswer } from "../../core/model/native.ts";
import { excessOf } from "../../core/values/value-limits.ts";
import { type OutputCap, perEvent } from "../run/output-cap.ts";
import type { RunContext } from "../run/run-context.ts";
import { storable } from "./native-answer.ts";

/** Writes deltas that become one event each, without joining adjacent ones. */
export class LoneDeltas {
  readonly #run: RunContext;
  readonly #round: number;
  readonly #cap: OutputCap;

  constructor(run: RunContext, round: number, cap: OutputCap) {
    this.#run = run;
    this.#round = round;
    this.#cap = cap;
  }

  /** Text that is signed or has vendor fields. */
  text({ native, ...delta }: TextDelta | RefusalDelta): void {
    const signature = "signature" in delta ? (delta.signature?.length ?? 0) : 0;
    this.#cap.size += perEvent + delta.text.length + signature;
    const type = delta.type === "text" ? "text.delta" : "refusal.delta";
    this.#run.emit({ ...delta, type, round: this.#round, ...this.#kept(native) });
  }

  reasoning({ native, ...delta }: ReasoningDelta): void {
    this.#cap.size += perEvent + (delta.text.length + (delta.signature?.length ?? 0) + (delta.encrypted?.length ?? 0));
    this.#run.emit({ ...delta, ...this.#kept(native), type: "reasoning.delta", round: this.#round });
  }

  /** Opaque parts are stored and sent back unchanged, so they must fit the limits. */
  activity({ kind, wire, data, keep }: ActivityDelta): void {
    const excess = excessOf(data);
    if (excess !== undefined)
      throw new VenturiError("provider.stream", "too_large", `a part of the model's answer ${excess}`);
    this.#cap.size += perEvent + (JSON.stringify(data)?.length ?? 0);
    const kept = keep ? { keep: true } : {};
    this.#run.emit({ type: "provider.activity", round: this.#round, kind, wire, data, ...kept });
  }

  fields(kind: "response" | "fields", native: NativeAnswer): void {
    const { wire, fields, omitted } = storable(native, this.#cap, this.#run);
    const left = omitted === undefined ? {} : { omitted };
    this.#run.emit({ type: "provider.activity", round: this.#round, kind, wire, data: fields, ...left });
  }

  #kept(native: NativeAnswer | undefined): { native?: NativeAnswer } {
    return native === undefined ? {} : { native: storable(native, this.#cap, this.#run) };
  }
}
