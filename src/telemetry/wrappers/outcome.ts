import { type Span, SpanStatusCode } from "@opentelemetry/api";
import { reasonsOf, VenturiError } from "../../core/errors/errors.ts";
import { attributes } from "../base/names.ts";
import { Redactor } from "./redact.ts";

const redactor = new Redactor([]);
const longestReason = 2_000;

/** How a measured operation ended. */
export type Outcome =
  | { readonly kind: "good" }
  | { readonly kind: "cancelled" }
  /** Left to the run's next owner, which repeats it: neither a failure nor an execution. */
  | { readonly kind: "parked" }
  | { readonly kind: "failed"; readonly code: string; readonly ops: string; readonly reason: string };

export const good: Outcome = { kind: "good" };
export const cancelled: Outcome = { kind: "cancelled" };
export const parked: Outcome = { kind: "parked" };

/** An abort counts as cancelled, unless its reason is a failure (a timeout, a limit). `otherwise`: code for errors without one. */
export function outcomeOf(thrown: unknown, signal: AbortSignal | undefined, otherwise = "plugin_failed"): Outcome {
  const cause = signal?.aborted ? signal.reason : thrown;
  if (VenturiError.isInstance(cause)) return cause.details?.parked === true ? parked : failedWith(cause);
  if (signal?.aborted) return cancelled;
  return failed(otherwise, "", reasonsOf(cause).join(": "));
}

export const failedWith = (error: VenturiError): Outcome =>
  failed(error.code, error.ops.join(": "), reasonsOf(error).join(": "));

export const failed = (code: string, ops: string, reason = ""): Outcome =>
  code === "stream_interrupted" ? cancelled : { kind: "failed", code, ops, reason };

/** Undefined unless it failed. */
export const errorType = (outcome: Outcome): string | undefined =>
  outcome.kind === "failed" ? outcome.code : undefined;

export function mark(span: Span, outcome: Outcome): void {
  if (outcome.kind === "good") return;
  if (outcome.kind === "parked") {
    span.setAttribute(attributes.parked, true);
    return;
  }
  if (outcome.kind === "cancelled") {
    span.setAttribute(attributes.cancelled, true);
    return;
  }
  span.setAttribute(attributes.errorType, outcome.code);
  const message = redactor.text(outcome.reason, longestReason);
  // Backends list failed spans with this text, so it says where and why.
  const status = [outcome.ops, message].filter((text) => text !== "").join(": ");
  span.setStatus({ code: SpanStatusCode.ERROR, message: status });
  if (message === "") return;
  span.addEvent("exception", { "exception.type": outcome.code, "exception.message": message });
}
