import { anthropicRate, fromJson, retryAfter, retryField, retryHint } from "venturi/internal";
import type { ErrorJson, PlainResponse, VenturiError } from "venturi/plugin";
import type { FastifyInstance, FastifyReply } from "venturi/plugin/channel";
import { httpError } from "venturi/plugin/channel";

/** Anthropic's error format, with the vendor's own terms where the vendor rejected the request. */
export function errorBody(error: ErrorJson): { type: "error"; error: Record<string, unknown> } {
  const { details = {} } = error;
  const said = error.code === "invalid_input" ? details : {};
  const type = typeOf(fromJson(error).status);
  const code = said.vendorCode ?? error.code;
  // Vendor SDKs act on this code.
  const own = typeof details.errorCode === "string" ? { details: { error_code: details.errorCode } } : {};
  return { type: "error", error: { type, message: said.vendorMessage ?? error.err, code, ...own } };
}

export const failureFrame = (error: VenturiError): string => errorFrame(error.toJSON());
/** An error within a stream. */
export function errorFrame(json: ErrorJson): string {
  const { error, ...body } = errorBody(json);
  return `event: error\ndata: ${JSON.stringify({ ...body, error: { ...error, ...retryField(json) } })}\n\n`;
}

export function replyWithErrors(server: FastifyInstance): void {
  server.setErrorHandler((thrown, _request, reply) => replyToFailure(reply, httpError(thrown).toJSON()));
  server.setNotFoundHandler((request, reply) => {
    const message = `there is no ${request.method} ${(request.url.split("?", 1)[0] ?? "").slice(0, 200)}`;
    return replyToFailure(reply, { op: "server.route", code: "not_found", err: message });
  });
}

/** Response to a rejected request, or to a run that failed before anything was sent. */
export function replyToFailure(reply: FastifyReply, json: ErrorJson): FastifyReply {
  const { status, headers, body } = failureResponse(json);
  return reply.code(status).headers(headers).send(body);
}

export function failureResponse(json: ErrorJson): PlainResponse {
  const error = fromJson(json);
  return {
    status: error.status,
    headers: { ...retryHint(error), ...retryAfter(error), ...anthropicRate(error) },
    body: errorBody(json),
  };
}

const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
};
const typeOf = (status: number): string => types[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
