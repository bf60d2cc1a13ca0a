import { VenturiError, wrap } from "../core/errors.ts";

/** What went wrong with a request, in our words, whether a handler, a schema or the HTTP server itself said it. */
export function httpError(thrown: unknown): VenturiError {
  if (VenturiError.isInstance(thrown)) return thrown;
  const { statusCode, message } = (thrown ?? {}) as { statusCode?: unknown; message?: unknown }; // the server's errors have these
  if (statusCode === 413)
    return new VenturiError("request.parse", "too_large", "the body is larger than limits.body allows");
  if (statusCode === 404) return new VenturiError("request.parse", "not_found", String(message));
  if (typeof statusCode === "number" && statusCode < 500) {
    return new VenturiError("request.parse", "invalid_input", String(message));
  }
  const cause = wrap("server.handle", thrown);
  return new VenturiError("server.handle", "internal", "a fault of the service itself; its log says more", { cause });
}

/** When to come back, for the failures that pass. */
export function retryAfter(error: VenturiError): Record<string, string> {
  const wait = error.details?.retryAfterMs;
  if (typeof wait === "number") return { "retry-after": String(Math.max(1, Math.ceil(wait / 1000))) };
  return error.status === 503 || error.status === 429 ? { "retry-after": "1" } : {};
}

/**
 * The vendors' clients repeat 409 and 5xx on their own unless this header says no. A run that failed for good, or that may
 * have had effects before its stream broke, is not to be repeated.
 */
export const retryHint = (error: VenturiError): Record<string, string> => ({
  "x-should-retry": String(error.retryable && error.code !== "stream_error"),
});
