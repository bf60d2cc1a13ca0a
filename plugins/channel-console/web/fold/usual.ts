import { type TimePart, timeParts, timingKey } from "venturi/client/times";
import type { Digest } from "../state/api-types.ts";
import type { Medians } from "./medians.ts";

export interface Slower {
  readonly count: number;
  /** Usual duration of the whole run. */
  readonly usual: number;
  /** The part that makes up most of the difference. */
  readonly part: TimePart;
  readonly ms: number;
  readonly usualMs: number;
}

const factor = 1.5;
const leastMs = 200;

/** Why a run took longer than its agent usually does; undefined when it did not. */
export function slowerThanUsual({ ms, timing }: Digest, usual: Medians): Slower | undefined {
  if (ms === undefined || timing === undefined || usual.ms === undefined) return undefined;
  if (ms < usual.ms * factor || ms - usual.ms < leastMs) return undefined;
  const excess = (part: TimePart) => (timing[timingKey(part)] ?? 0) - (usual.parts[part] ?? 0);
  const [part] = [...timeParts].sort((one, other) => excess(other) - excess(one));
  if (part === undefined || excess(part) <= 0) return undefined;
  const { count, parts } = usual;
  return { count, usual: usual.ms, part, ms: timing[timingKey(part)] ?? 0, usualMs: parts[part] ?? 0 };
}
