import { fromJson, openaiRate, retryAfter, retryField, retryHint } from "venturi/internal";
import type { ErrorJson, PlainResponse, StreamFrames, VenturiError } from "venturi/plugin";
import type { FastifyInstance, FastifyReply } from "venturi/plugin/channel";
import { dataFrame, httpError } from "venturi/plugin/channel";

/** OpenAI's error format, with the vendor's own terms where the vendor rejected the request. */
export function errorBody(error: ErrorJson): { error: Record<string, unknown> } {
  const { details = {} } = error;
  const said = error.code === "invalid_input" ? details : {};
  return {
    error: {
      message: said.vendorMessage ?? error.err,
      type: said.vendorType ?? typeOf(fromJson(error).status),
      param: details.param ?? null,
      code: reasonOf(details.reason) ?? said.vendorCode ?? codeOf(error),
    },
  };
}

/** An error within a stream. */
export const errorFrame = (error: ErrorJson): string =>
  dataFrame({ error: { ...errorBody(error).error, ...retryField(error) } });
export const failedFrame = (error: VenturiError): string => errorFrame(error.toJSON());

export const failures: StreamFrames = {
  failed: failedFrame,
  refused: failureResponse,
};

export function replyWithErrors(server: FastifyInstance): void {
  server.setErrorHandler((thrown, _request, reply) => replyToFailure(reply, httpError(thrown).toJSON()));
  server.setNotFoundHandler((request, reply) => {
    const message = `Unknown request URL: ${request.method} ${(request.url.split("?", 1)[0] ?? "").slice(0, 200)}.`;
    return replyToFailure(reply, { op: "server.route", code: "not_found", err: message });
  });
}

/** Response to a rejected request, or to a run that failed before anything was sent. */
export function replyToFailure(reply: FastifyReply, json: ErrorJson): FastifyReply {
  const { status, headers, body } = failureResponse(json);
  return reply.code(status).headers(headers).send(body);
}

function failureResponse(json: ErrorJson): PlainResponse {
  const error = fromJson(json);
  return {
    status: error.status,
    headers: { ...retryHint(error), ...retryAfter(error), ...openaiRate(error) },
    body: errorBody(json),
  };
}

/** Other reasons, such as a connection's errno, are not codes of the API. */
const reasonOf = (reason: unknown): unknown => (reason === "context_length_exceeded" ? reason : undefined);

/** Agents are models to this channel's clients, and some check for the code of an unknown model. */
function codeOf({ op, code }: ErrorJson): string {
  return code === "not_found" && /\b(run\.start|agent\.get)\b/.test(op) ? "model_not_found" : code;
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 || status === 499 ? "server_error" : "invalid_request_error";
}
