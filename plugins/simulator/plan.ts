import type { Fault, FaultName } from "./faults.ts";
import type { Random } from "./random.ts";
import type { Failure } from "./turn.ts";
import type { Shape } from "./wire.ts";

/** The effect of faults on one response: drawn once, then only followed. */
export interface Plan {
  readonly delay: number;
  readonly first: number;
  readonly pace: number | undefined;
  readonly stall: Place | undefined;
  readonly pause: { readonly ms: number; readonly at: Place } | undefined;
  /** How and where the body ends early. */
  readonly ending: { readonly how: "cut" | "drop" | "reset"; readonly at: Place } | undefined;
  readonly malformed: Place | undefined;
  readonly error: { readonly failure: Failure; readonly at: Place } | undefined;
  readonly unknown: Place | undefined;
  readonly splitting: "none" | "utf8" | "bytes";
  readonly crlf: boolean;
  readonly comments: boolean;
  readonly shape: Shape;
  readonly failure: Failure | undefined;
  readonly fail: { readonly count: number; readonly status: number } | undefined;
  readonly refuse: number | undefined;
}

/** A number of chunks or bytes, once the total is known. */
export type Place = (total: number) => number;

export function planOf(faults: readonly Fault[], random: Random): Plan {
  const chosen = new Map<FaultName, Fault>();
  for (const fault of faults) {
    if (fault.probability === 1 || random() < fault.probability) chosen.set(fault.name, fault);
  }
  const amount = (name: FaultName): number | undefined => {
    const value = chosen.get(name)?.value;
    return value === undefined ? undefined : Number.parseFloat(value);
  };
  const place = (name: FaultName): Place | undefined => placeOf(chosen.get(name), random);
  return {
    delay: amount("delay") ?? 0,
    first: amount("first") ?? 0,
    pace: amount("pace"),
    stall: place("stall"),
    pause: pauseOf(amount("pause"), place("pause")),
    ending: endingOf(place),
    malformed: place("malformed"),
    error: errorOf(amount("error"), place("error")),
    unknown: place("unknown-event"),
    splitting: chosen.has("one-byte") ? "bytes" : chosen.has("split-utf8") ? "utf8" : "none",
    crlf: chosen.has("crlf"),
    comments: chosen.has("comments"),
    shape: {
      duplicateIndex: chosen.has("duplicate-index"),
      missingId: chosen.has("missing-id"),
      lateUsage: chosen.has("late-usage"),
      missingEnd: chosen.has("missing-end"),
    },
    failure: failureOf(chosen),
    fail: failOf(chosen.get("fail")),
    refuse: amount("refuse"),
  };
}

function placeOf(fault: Fault | undefined, random: Random): Place | undefined {
  if (fault === undefined) return undefined;
  const { position = 1 } = fault;
  if (position !== "?") return () => position;
  const share = random();
  return (total) => Math.floor(share * total);
}

function endingOf(place: (name: FaultName) => Place | undefined): Plan["ending"] {
  for (const how of ["cut", "drop", "reset"] as const) {
    const at = place(how);
    if (at !== undefined) return { how, at };
  }
  return undefined;
}

function pauseOf(ms: number | undefined, at: Place | undefined): Plan["pause"] {
  return ms === undefined || at === undefined ? undefined : { ms, at };
}

function errorOf(status: number | undefined, at: Place | undefined): Plan["error"] {
  if (at === undefined) return undefined;
  return { failure: { status: status ?? 500, message: "the simulator was set to fail inside the stream" }, at };
}

function failureOf(chosen: ReadonlyMap<FaultName, Fault>): Failure | undefined {
  const limited = chosen.get("rate-limit");
  if (limited !== undefined) return rateLimited(Number(limited.value ?? 1000));
  const status = chosen.get("status");
  if (status === undefined) return undefined;
  return failed(Number.parseInt(status.value ?? "500", 10));
}

function rateLimited(ms: number): Failure {
  const headers = { "retry-after-ms": String(ms), "retry-after": String(Math.ceil(ms / 1000)) };
  return { status: 429, message: `the simulator was set to ask for ${ms} ms`, headers };
}

export const failed = (status: number): Failure => ({ status, message: `the simulator was set to answer ${status}` });

function failOf(fault: Fault | undefined): Plan["fail"] {
  if (fault === undefined) return undefined;
  const [count = "1", status = "500"] = (fault.value ?? "1").split(":");
  return { count: Number(count), status: Number(status) };
}
