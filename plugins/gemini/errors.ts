import { type Code, VenturiError } from "venturi/plugin";
import { asCount, asList, asRecord, asText, codeInBody } from "venturi/plugin/provider";

const op = "provider.stream";

const codes: ReadonlyMap<string, Code> = new Map([
  ["RESOURCE_EXHAUSTED", "rate_limited"],
  ["UNAVAILABLE", "unavailable"],
]);

const passing: ReadonlySet<string> = new Set(["INTERNAL", "DEADLINE_EXCEEDED", "ABORTED"]);

/** Google's `{"error":{code,message,status,details}}` inside a stream that began with 200. */
export function errorOf(body: unknown): VenturiError {
  const error = asRecord(asRecord(body).error);
  const status = asText(error.status);
  const number = asCount(error.code);
  const code = codes.get(status ?? "") ?? (passing.has(status ?? "") ? undefined : codeInBody(body)) ?? "llm_error";
  const details: Record<string, unknown> = {};
  if (status !== undefined) details.vendorCode = status;
  if (number !== undefined) details.status = number;
  if (passing.has(status ?? "")) details.retry = true;
  const wait = retryAfter(asList(error.details));
  if (wait !== undefined) details.retryAfterMs = wait;
  const message = asText(error.message) ?? asText(asRecord(body).error) ?? "no message was given";
  return new VenturiError(op, code, `the provider reported ${status ?? "an error"}: ${message}`, { details });
}

/** Google reports an unknown key as 400 with this reason, not as 401. */
export function keyFailure(body: unknown): VenturiError | undefined {
  const error = asRecord(asRecord(Array.isArray(body) ? body[0] : body).error);
  if (!asList(error.details).some((detail) => asRecord(detail).reason === "API_KEY_INVALID")) return undefined;
  const details = { status: error.code, vendorCode: "API_KEY_INVALID" };
  return new VenturiError(op, "unauthorized", "the provider does not know the key; check apiKey", { details });
}

export const broken = (message: string, details?: { readonly malformed: true }): VenturiError =>
  new VenturiError(op, "stream_error", message, details && { details });

/** The model wrote an invalid call; a retry of the same request often succeeds. */
export const malformedCall = (reason: string, message: string | undefined): VenturiError =>
  new VenturiError(
    op,
    "llm_error",
    `the provider ended with ${reason}: ${message ?? "no message was given"}; try again`,
    {
      details: { vendorCode: reason, retry: true },
    },
  );

/** `RetryInfo.retryDelay`, such as "34.07s": Google sends no retry-after header. */
function retryAfter(details: readonly unknown[]): number | undefined {
  for (const detail of details) {
    const delay = asText(asRecord(detail).retryDelay);
    const seconds = delay === undefined ? Number.NaN : Number.parseFloat(delay);
    if (Number.isFinite(seconds) && seconds >= 0) return Math.ceil(seconds * 1000);
  }
  return undefined;
}
