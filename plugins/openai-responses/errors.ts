import { vendorWords } from "venturi/internal";
import { type Code, VenturiError } from "venturi/plugin";
import { asCount, asRecord, asText, codeInBody } from "venturi/plugin/provider";

const op = "provider.stream";

/**
 * An error in a stream: flat as documented (`code`, `message`), nested under `error` as really sent, or the `error` of a failed
 * response. The message may be empty.
 */
export function errorOf(event: Readonly<Record<string, unknown>>): VenturiError {
  const nested = asRecord(event.error);
  const kind = asText(nested.code) ?? asText(event.code) ?? asText(nested.type) ?? "error";
  const said = asText(nested.message) ?? asText(event.message) ?? asText(event.error) ?? "no reason was given";
  const words = vendorWords({ error: Object.keys(nested).length > 0 ? nested : event });
  const details: Record<string, unknown> = { ...words, vendorCode: kind };
  const wait = /try again in ([\d.]+)\s*(ms|s)\b/i.exec(said);
  const ms = wait === null ? undefined : asCount(Math.ceil(Number(wait[1]) * (wait[2] === "ms" ? 1 : 1000)));
  if (ms !== undefined) details.retryAfterMs = ms;
  if (/insufficient_quota|billing/.test(kind)) details.retry = false;
  const code = codeInBody(event) ?? codeOf(kind, said);
  return new VenturiError(op, code, `the provider reported ${kind}: ${said}`, { details });
}

export const broken = (message: string, details?: { readonly malformed: true }): VenturiError =>
  new VenturiError(op, "stream_error", message, details && { details });

const kinds: readonly (readonly [RegExp, Code])[] = [
  [/rate_?limit|insufficient_quota|too_many_requests|\b429\b/i, "rate_limited"],
  [/server_error|overloaded|unavailable|timeout|internal_error|\b50[0-9]\b|\b529\b/i, "unavailable"],
  [/invalid_api_key|authentication/i, "unauthorized"],
  [/permission/i, "forbidden"],
  [/invalid_request|context_length|invalid_prompt|invalid_image|image_|unsupported/i, "invalid_input"],
];

function codeOf(kind: string, said: string): Code {
  for (const words of [kind, said]) {
    for (const [pattern, code] of kinds) if (pattern.test(words)) return code;
  }
  return "llm_error";
}
