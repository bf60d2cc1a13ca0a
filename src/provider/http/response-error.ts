import type { Code } from "../../core/errors/codes.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import { vendorNumber } from "../../core/values/vendor-number.ts";

export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface HttpFailure {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** Parsed JSON, or else the text; bounded in size. */
  readonly body: unknown;
}

/** Maps an HTTP error to our codes, with the server's retry advice. */
export function httpFailure(op: string, failure: HttpFailure): VenturiError {
  const { status, headers, body } = failure;
  const said = errorText(body);
  const redirected = status >= 300 && status < 400;
  const message = redirected
    ? `the provider redirects elsewhere (${status}), which is not followed with a key; set baseUrl to the new place`
    : `the provider answered ${status}${said === "" ? "" : `: ${said}`}`;
  const details = { status, ...vendorWords(body), ...requestId(headers), ...retryHints(status, headers, body) };
  return new VenturiError(op, codeOfStatus(status), message, { details });
}

export function codeOfStatus(status: number): Code {
  if (status === 401) return "unauthorized";
  if (status === 402 || status === 403) return "forbidden";
  if (status === 404) return "not_found";
  if (status === 400 || status === 422) return "invalid_input";
  if (status === 408) return "timeout";
  if (status === 409) return "conflict";
  if (status === 413) return "too_large";
  if (status === 429) return "rate_limited";
  if (status >= 500 && status !== 501) return "unavailable";
  return "llm_error";
}

/** The code for an error sent within a stream, by the status in its body or because it reports overload. */
export function codeInBody(body: unknown): Code | undefined {
  const status = statusInBody(body);
  if (status !== undefined) {
    const code = codeOfStatus(status);
    if (code !== "llm_error" && code !== "conflict") return code === "timeout" ? "unavailable" : code;
  }
  return /overloaded|\b529\b/i.test(`${errorCode(body) ?? ""} ${errorText(body)}`) ? "unavailable" : undefined;
}

/** The status named in an error's body, as a number or digits; a word such as "tool_use_failed" is not a status. */
export function statusInBody(body: unknown): number | undefined {
  const outer = isRecord(body) ? body : {};
  const inner = isRecord(outer.error) ? outer.error : {};
  for (const { status_code, code, status } of [inner, outer]) {
    for (const value of [status_code, code, status]) {
      const number = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
      if (typeof number === "number" && number >= 400 && number < 600) return number;
    }
  }
  return undefined;
}

/**
 * The human-readable text of an error body, wherever the vendor puts it: `error.message`, `error` as text, `message`, `detail`
 * (Mistral), or the text itself.
 */
export function errorText(body: unknown): string {
  if (typeof body === "string") return cut(body.trim());
  if (!isRecord(body)) return Array.isArray(body) ? errorText(body[0]) : "";
  const { error, message, detail } = body;
  if (isRecord(error)) return errorText(error);
  for (const text of [error, message, detail]) {
    if (typeof text === "string" && text !== "") return cut(text);
  }
  if (Array.isArray(detail)) return cut(JSON.stringify(detail));
  return isRecord(detail) ? errorText(detail) : "";
}

/** The vendor's machine-readable error code: `error.code`, `error.type`, `code`, `type`. */
export function errorCode(body: unknown): string | undefined {
  const inner = isRecord(body) && isRecord(body.error) ? body.error : body;
  if (!isRecord(inner)) return Array.isArray(body) ? errorCode(body[0]) : undefined;
  for (const word of [inner.code, inner.type, inner.status]) {
    if (typeof word === "string" && word !== "") return word;
    if (typeof word === "number") return String(word);
  }
  return undefined;
}

/** The vendor's terms for an error, which its clients act upon. */
export interface VendorWords {
  readonly vendorCode?: string;
  readonly vendorType?: string;
  readonly vendorMessage?: string;
  readonly param?: string;
  /** Set when the conversation exceeds the model's context; every vendor words that differently. */
  readonly reason?: "context_length_exceeded";
}

const tooLong =
  /context.?length|context.?window|maximum context|prompt is too long|input is too long|too many (input )?tokens|exceeds? the (available )?context|input token count .* exceeds/i;

export function vendorWords(body: unknown): VendorWords {
  const code = errorCode(body);
  const said = errorText(body);
  const first = Array.isArray(body) ? body[0] : body;
  const inner = isRecord(first) && isRecord(first.error) ? first.error : first;
  const { type, param } = isRecord(inner) ? inner : {};
  return {
    ...(code === undefined ? {} : { vendorCode: code }),
    ...(typeof type === "string" ? { vendorType: type } : {}),
    ...(said === "" ? {} : { vendorMessage: said }),
    ...(typeof param === "string" ? { param } : {}),
    ...(tooLong.test(`${code ?? ""} ${said}`) ? { reason: "context_length_exceeded" as const } : {}),
  };
}

const requestId = (headers: HttpHeaders): { requestId?: string } => {
  const id = header(headers, "x-request-id") ?? header(headers, "request-id");
  return id === undefined ? {} : { requestId: id };
};

/** Quota errors that waiting does not fix, although their status suggests it. */
const exhausted = /insufficient_quota|billing|spend_limit|credit balance|quota_exceeded/i;

interface RetryHints {
  retryAfterMs?: number;
  retry?: boolean;
  /** No quota or credit is left. */
  exhausted?: boolean;
}

export function retryHints(status: number, headers: HttpHeaders, body: unknown): RetryHints {
  const wait = vendorNumber(waitOf(headers)) ?? vendorNumber(waitInBody(body));
  const should = header(headers, "x-should-retry");
  const hints: RetryHints = {};
  if (wait !== undefined) hints.retryAfterMs = wait;
  if (should === "true" || should === "false") hints.retry = should === "true";
  else if (status === 409) hints.retry = true;
  else if (status === 429 && wait === undefined && exhausted.test(JSON.stringify(body) ?? "")) {
    hints.retry = false;
    hints.exhausted = true;
  }
  return hints;
}

/**
 * Azure sends `retry-after-ms: 0` beside `retry-after: 1`: ignore a zero and use the other. A date is the server's, whose clock may differ
 * from ours. A time that has passed is no advice: retries without any wait would be used up at once.
 */
function waitOf(headers: HttpHeaders): number | undefined {
  const ms = Number(header(headers, "retry-after-ms") ?? Number.NaN);
  if (ms > 0) return Math.ceil(ms);
  const after = header(headers, "retry-after");
  if (after === undefined) return undefined;
  const seconds = after.trim() === "" ? Number.NaN : Number(after);
  if (Number.isFinite(seconds)) return Math.ceil(seconds * 1000);
  const now = Date.parse(header(headers, "date") ?? "");
  const wait = Date.parse(after) - (Number.isNaN(now) ? Date.now() : now);
  return wait > 0 ? wait : undefined;
}

/** Google puts `RetryInfo.retryDelay` ("20s") in the error's details; OpenRouter the upstream provider's headers. */
function waitInBody(body: unknown): number | undefined {
  const first = Array.isArray(body) ? body[0] : body;
  const error = isRecord(first) && isRecord(first.error) ? first.error : undefined;
  if (error === undefined) return undefined;
  for (const detail of Array.isArray(error.details) ? error.details : []) {
    const delay = isRecord(detail) ? detail.retryDelay : undefined;
    const seconds = typeof delay === "string" ? /^([\d.]+)s$/.exec(delay)?.[1] : undefined;
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  }
  const metadata = isRecord(error.metadata) ? error.metadata : {};
  const headers = isRecord(metadata.headers) ? metadata.headers : {};
  const reset = Number(headers["X-RateLimit-Reset"] ?? Number.NaN);
  return reset > Date.now() ? reset - Date.now() : undefined;
}

export function header(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}

const cut = (text: string): string => (text.length > 500 ? `${text.slice(0, 500)} …` : text);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
