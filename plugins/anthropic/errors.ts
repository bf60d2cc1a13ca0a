import { type Code, VenturiError } from "venturi/plugin";
import { asRecord, asText, codeInBody } from "venturi/plugin/provider";

const op = "provider.stream";

const codes: ReadonlyMap<string, Code> = new Map([
  ["overloaded_error", "unavailable"],
  ["rate_limit_error", "rate_limited"],
  ["invalid_request_error", "invalid_input"],
  ["request_too_large", "too_large"],
]);

/** Transient errors whose code does not say so. */
const passing: ReadonlySet<string> = new Set(["api_error", "timeout_error"]);

/** An `{"type":"error","error":{…}}` event in a stream that began with 200. */
export function errorOf(event: unknown): VenturiError {
  const outer = asRecord(event);
  const error = asRecord(outer.error);
  const type = asText(error.type) ?? "error";
  const message = asText(error.message) ?? asText(outer.message) ?? asText(outer.error) ?? "no message was given";
  const details: Record<string, unknown> = { vendorCode: type };
  if (asText(outer.request_id) !== undefined) details.requestId = outer.request_id;
  if (passing.has(type)) details.retry = true;
  const code = codes.get(type) ?? codeInBody(event) ?? "llm_error";
  return new VenturiError(op, code, `the provider reported ${type}: ${message}`, { details });
}

/** The stream violates its format. */
export const broken = (message: string, details?: { readonly malformed: true }): VenturiError =>
  new VenturiError(op, "stream_error", message, details && { details });
