import { type Span, SpanStatusCode } from "@opentelemetry/api";
import { VenturiError } from "../../core/errors.ts";
import { attributes } from "../names.ts";

/** How something that was measured ended. */
export type Outcome =
  | { readonly kind: "good" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "failed"; readonly code: string; readonly ops: string };

export const good: Outcome = { kind: "good" };
export const cancelled: Outcome = { kind: "cancelled" };

/** Cancelled is the signal's doing, unless the signal itself says that something failed (a timeout, a limit). */
export function outcomeOf(thrown: unknown, signal: AbortSignal | undefined): Outcome {
  const cause = signal?.aborted ? signal.reason : thrown;
  if (VenturiError.isInstance(cause)) return failed(cause.code, cause.ops.join(": "));
  if (signal?.aborted) return cancelled;
  return failed("plugin_failed", "");
}

export const failed = (code: string, ops: string): Outcome =>
  code === "stream_interrupted" ? cancelled : { kind: "failed", code, ops };

/** Cancelled and good things have none. */
export const errorType = (outcome: Outcome): string | undefined =>
  outcome.kind === "failed" ? outcome.code : undefined;

export function mark(span: Span, outcome: Outcome): void {
  if (outcome.kind === "good") return;
  if (outcome.kind === "cancelled") {
    span.setAttribute(attributes.cancelled, true);
    return;
  }
  span.setAttribute(attributes.errorType, outcome.code);
  span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.ops });
}
