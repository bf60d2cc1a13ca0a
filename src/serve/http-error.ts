import { type ErrorJson, fromJson, VenturiError, wrap } from "../core/errors/errors.ts";
import { vendorNumber } from "../core/values/vendor-number.ts";

/** Converts any failure of a request to a VenturiError, whether a handler, a schema or the HTTP server raised it. */
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
  return new VenturiError("server.handle", "internal", "internal error; see the service's log", { cause });
}

/** When a transient failure is worth another try, in seconds. */
function retrySeconds(error: VenturiError): number | undefined {
  const wait = vendorNumber(error.details?.retryAfterMs);
  if (wait !== undefined) return Math.max(1, Math.ceil(wait / 1000));
  return error.status === 503 || error.status === 429 ? 1 : undefined;
}

/** Retry-After, for transient failures. */
export function retryAfter(error: VenturiError): Record<string, string> {
  const seconds = retrySeconds(error);
  return seconds === undefined ? {} : { "retry-after": String(seconds) };
}

/** The same in the error of a stream, whose headers have been sent. */
export function retryField(error: ErrorJson): { retry_after?: number } {
  const seconds = retrySeconds(fromJson(error));
  return seconds === undefined ? {} : { retry_after: seconds };
}

/**
 * Vendor SDKs retry 409 and 5xx unless this header forbids it. A permanent failure must not be retried, nor a run that may have
 * had effects before its stream broke.
 */
export const retryHint = (error: VenturiError): Record<string, string> => ({
  "x-should-retry": String(error.retryable && error.code !== "stream_error"),
});
