import { errorCode, errorText, httpFailure, statusInBody, vendorWords } from "venturi/internal";
import { type Code, type HttpFailure, VenturiError } from "venturi/plugin";
import { asRecord, asText, codeInBody } from "venturi/plugin/provider";

const op = "provider.stream";

/** An error inside a stream, or inside a body sent with 200. */
export function errorIn(payload: unknown): VenturiError {
  const body = asRecord(payload);
  const said = errorText(body) || "no reason was given";
  const vendorCode = errorCode(body);
  const status = statusInBody(body);
  const code = codeOf(`${vendorCode ?? ""} ${typeIn(body)} ${said}`, body);
  const details: Record<string, unknown> = { ...vendorWords(body) };
  if (status !== undefined) details.status = status;
  if (exhausted.test(`${vendorCode ?? ""} ${said}`)) details.retry = false;
  return new VenturiError(op, code, `the provider reported an error: ${said}`, { details });
}

/** Responses with status 400 that are not the request's fault. */
export function failureOf(failure: HttpFailure): VenturiError | undefined {
  if (failure.status === 400 && modelsFault.test(errorCode(failure.body) ?? "")) return errorIn(failure.body);
  return refusedKey(failure);
}

/** xAI responds with 400 to a wrong key. */
function refusedKey(failure: HttpFailure): VenturiError | undefined {
  if (failure.status !== 400 || !/incorrect api key|invalid api key/i.test(errorText(failure.body))) return undefined;
  return httpFailure(op, { ...failure, status: 401 });
}

export const broken = (message: string, details?: { readonly malformed: true }): VenturiError =>
  new VenturiError(op, "stream_error", message, details && { details });

const exhausted = /insufficient_quota|billing|quota_exceeded|credit/i;

const kinds: readonly (readonly [RegExp, Code])[] = [
  [/rate.?limit|too many requests|insufficient_quota|quota|resource.?exhausted|throttl/i, "rate_limited"],
  [/invalid.?api.?key|authentication|unauthorized|unauthenticated/i, "unauthorized"],
  [/permission|forbidden/i, "forbidden"],
  [
    /overloaded|unavailable|server_error|internal.?server|internal_error|bad gateway|capacity|timed? ?out|timeout|upstream/i,
    "unavailable",
  ],
  [/invalid_request|bad.?request|context.?length|invalid_prompt/i, "invalid_input"],
];

/** Groq reports the model's malformed call as an invalid request. */
const modelsFault = /tool_use_failed/;

function codeOf(words: string, body: unknown): Code {
  if (modelsFault.test(words)) return "llm_error";
  return codeInBody(body) ?? kinds.find(([kind]) => kind.test(words))?.[1] ?? "llm_error";
}

const typeIn = (body: Readonly<Record<string, unknown>>): string =>
  asText(asRecord(body.error).type) ?? asText(body.type) ?? "";

/** `error` in any form, a body that is itself an error (Mistral, vLLM, xAI), or an event named so (LM Studio). */
export const isError = ({ object, type, detail }: Readonly<Record<string, unknown>>): boolean =>
  object === "error" || type === "error" || typeof detail === "string";
