import type { NativeAnswer } from "../../core/model/native.ts";
import { answerLimits, excessOf } from "../../core/values/value-limits.ts";
import { type OutputCap, perEvent } from "../run/output-cap.ts";
import type { RunContext } from "../run/run-context.ts";

/** A single field may use at most an eighth of the total. */
const fieldLimits = { ...answerLimits, nodes: answerLimits.nodes / 8, size: answerLimits.size / 8 };

/** Vendor fields as they can be stored: counted as output, without those that are too large, which are logged by name. */
export function storable(native: NativeAnswer, cap: OutputCap, run: RunContext): NativeAnswer {
  const { wire, fields } = native;
  if (excessOf(fields, answerLimits) === undefined) {
    cap.size += perEvent + JSON.stringify(fields).length;
    return native;
  }
  const kept = Object.entries(fields).filter(([, value]) => excessOf(value, fieldLimits) === undefined);
  const omitted = Object.keys(fields).filter((name) => !kept.some(([each]) => each === name));
  run.deps.log.warn("fields of the answer are too large to be kept", {
    run: run.run,
    fields: omitted.slice(0, 20),
  });
  const some = kept.slice(0, 8);
  cap.size += perEvent + JSON.stringify(some).length;
  return { wire, fields: Object.fromEntries(some), omitted: [...omitted, ...kept.slice(8).map(([name]) => name)] };
}

/** Merges the fields of an answer; vendors repeat running totals, so later values win. */
export const laidOver = (before: NativeAnswer | undefined, native: NativeAnswer): NativeAnswer =>
  before === undefined ? native : { ...native, fields: { ...before.fields, ...native.fields } };
