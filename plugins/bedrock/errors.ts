import { httpFailure } from "venturi/internal";
import { type Code, type HttpFailure, VenturiError } from "venturi/plugin";
import { asRecord, asText } from "venturi/plugin/provider";

const op = "provider.stream";

/** By the exception's name in lower case: streams begin it with a small letter, answers with a capital one. */
const codes: ReadonlyMap<string, Code> = new Map([
  ["throttlingexception", "rate_limited"],
  ["toomanyrequestsexception", "rate_limited"],
  ["servicequotaexceededexception", "rate_limited"],
  ["serviceunavailableexception", "unavailable"],
  ["modelnotreadyexception", "unavailable"],
  ["internalserverexception", "unavailable"],
  ["modeltimeoutexception", "unavailable"],
  ["validationexception", "invalid_input"],
  ["accessdeniedexception", "forbidden"],
  ["resourcenotfoundexception", "not_found"],
]);

/** Transient kinds whose code does not say so. */
const passing: ReadonlySet<string> = new Set(["modelstreamerrorexception", "modelerrorexception"]);

/** An exception in a stream that began with 200. */
export function exceptionOf(name: string, body: unknown): VenturiError {
  const { message, originalMessage } = asRecord(body);
  const said = asText(message) ?? asText(originalMessage) ?? "no message was given";
  const kind = name.toLowerCase();
  const details = { vendorCode: name, ...(passing.has(kind) ? { retry: true } : {}) };
  return new VenturiError(op, codes.get(kind) ?? "llm_error", `the provider reported ${name}: ${said}`, { details });
}

/** Signed with credentials that ended meanwhile: others are fetched for the next attempt. */
const expired: ReadonlySet<string> = new Set(["ExpiredTokenException", "ExpiredToken", "UnrecognizedClientException"]);

/** Failures whose name stands in a header, where the status says less. */
export function failureOf(failure: HttpFailure, forget: () => void): VenturiError | undefined {
  const name = nameOf(failure);
  if (name === undefined) return undefined;
  if (expired.has(name)) forget();
  const { code, message, details } = httpFailure(op, failure);
  const known = codes.get(name.toLowerCase()) ?? (expired.has(name) ? "unauthorized" : code);
  const retry = passing.has(name.toLowerCase()) || name === "ModelNotReadyException" ? { retry: true } : {};
  return new VenturiError(op, known, message, { details: { ...details, vendorCode: name, ...retry } });
}

/** `ThrottlingException:http://internal.amazon.com/…` */
function nameOf({ headers }: HttpFailure): string | undefined {
  const value = headers["x-amzn-errortype"];
  return asText((typeof value === "string" ? value : value?.[0])?.split(":")[0]);
}

/** The stream violates its format. */
export const broken = (message: string): VenturiError => new VenturiError(op, "stream_error", message);

/** The model wrote an invalid call or answer; a retry of the same request often succeeds. */
export const malformed = (reason: string): VenturiError =>
  new VenturiError(op, "llm_error", `the provider ended with ${reason}; try again`, {
    details: { vendorCode: reason, retry: true },
  });
