import { type ErrorJson, fromJson, VenturiError, wrap } from "../core/errors/errors.ts";
import type { RateState } from "../core/ports/rate.ts";
import { vendorNumber } from "../core/values/vendor-number.ts";

/** Converts any failure of a request to a VenturiError, whether a handler, a schema or the HTTP server raised it. */
export function httpError(thrown: unknown): VenturiError {
  if (VenturiError.isInstance(thrown)) return thrown;
  const { statusCode, message } = (thrown ?? {}) as { statusCode?: unknown; message?: unknown }; // The HTTP server's errors have these fields.
  if (statusCode === 413)
    return new VenturiError("request.parse", "too_large", "the body is larger than limits.body allows");
  if (statusCode === 404) return new VenturiError("request.parse", "not_found", String(message));
  if (typeof statusCode === "number" && statusCode < 500) {
    return new VenturiError("request.parse", "invalid_input", String(message));
  }
  const cause = wrap("server.handle", thrown);
  return new VenturiError("server.handle", "internal", "internal error; see the service's log", { cause });
}

/** Delay before a retry makes sense after a transient failure, in seconds. */
function retrySeconds(error: VenturiError): number | undefined {
  const wait = vendorNumber(error.details?.retryAfterMs);
  if (wait !== undefined) return Math.max(1, Math.ceil(wait / 1000));
  return error.status === 503 || error.status === 429 ? 1 : undefined;
}

/** The Retry-After header of a transient failure. */
export function retryAfter(error: VenturiError): Record<string, string> {
  const seconds = retrySeconds(error);
  return seconds === undefined ? {} : { "retry-after": String(seconds) };
}

/** The same as a field of an error within a stream, whose headers were already sent. */
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

/** The per-minute limit that refused the request. */
function rateOf({ code, details }: VenturiError): RateState[] {
  const [most, resetMs] = [vendorNumber(details?.most), vendorNumber(details?.retryAfterMs)];
  const of = { requestsPerMinute: "requests", tokensPerMinute: "tokens" }[String(details?.limit)] as RateState["of"]; // One of these names, or undefined.
  if (code !== "rate_limited" || of === undefined || most === undefined || resetMs === undefined) return [];
  return [{ of, most, left: vendorNumber(details?.left) ?? 0, resetMs }];
}

/** Formats limits as the headers a vendor's clients read. */
export type RateHeaders = (rates: readonly RateState[]) => Record<string, string>;

export const openaiRates: RateHeaders = (rates) =>
  Object.assign(
    {},
    ...rates.map(({ of, most, left, resetMs }) => ({
      [`x-ratelimit-limit-${of}`]: String(most),
      [`x-ratelimit-remaining-${of}`]: String(left),
      [`x-ratelimit-reset-${of}`]: `${Math.ceil(resetMs / 1_000)}s`,
    })),
  );

export const anthropicRates = (rates: readonly RateState[], now = Date.now()): Record<string, string> =>
  Object.assign(
    {},
    ...rates.map(({ of, most, left, resetMs }) => ({
      [`anthropic-ratelimit-${of}-limit`]: String(most),
      [`anthropic-ratelimit-${of}-remaining`]: String(left),
      [`anthropic-ratelimit-${of}-reset`]: `${new Date(Math.ceil((now + resetMs) / 1_000) * 1_000).toISOString().slice(0, 19)}Z`,
    })),
  );

/** The same for a request that a limit refused. */
export const openaiRate = (error: VenturiError): Record<string, string> => openaiRates(rateOf(error));
export const anthropicRate = (error: VenturiError, now = Date.now()): Record<string, string> =>
  anthropicRates(rateOf(error), now);
