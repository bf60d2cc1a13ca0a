import { type ErrorJson, type FastifyInstance, type FastifyReply, fromJson, VenturiError, wrap } from "venturi/plugin";

/** Anthropic's shape of an error. */
export const errorBody = (error: ErrorJson): Record<string, unknown> => ({
  type: "error",
  error: { type: typeOf(fromJson(error).status), message: error.err, code: error.code },
});

export const failureFrame = (error: VenturiError): string => errorFrame(error.toJSON());
export const errorFrame = (error: ErrorJson): string => `event: error\ndata: ${JSON.stringify(errorBody(error))}\n\n`;

export function replyToFailure(reply: FastifyReply, json: ErrorJson): FastifyReply {
  const error = fromJson(json);
  return reply.code(error.status).headers(retryHint(error)).send(errorBody(json));
}

export function replyWithErrors(server: FastifyInstance): void {
  server.setErrorHandler((thrown, _request, reply) => {
    const error = asVenturiError(thrown);
    const wait = error.details?.retryAfterMs;
    if (typeof wait === "number") reply.header("retry-after", Math.max(1, Math.ceil(wait / 1000)));
    return reply.code(error.status).headers(retryHint(error)).send(errorBody(error.toJSON()));
  });
}

/** The client repeats 409 and 5xx on its own unless told not to; a run that failed for good is not to be repeated. */
const retryHint = (error: VenturiError): Record<string, string> => ({
  "x-should-retry": String(error.retryable && error.code !== "stream_error"),
});

function asVenturiError(thrown: unknown): VenturiError {
  if (thrown instanceof VenturiError) return thrown;
  const { statusCode, message } = thrown as { statusCode?: number; message?: string }; // an error of the HTTP server
  if (statusCode === 413) return new VenturiError("request.parse", "too_large", String(message));
  if (statusCode !== undefined && statusCode < 500) {
    return new VenturiError("request.parse", "invalid_input", String(message));
  }
  const cause = wrap("server.handle", thrown);
  return new VenturiError("server.handle", "internal", "a fault of the service itself", { cause });
}

const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
};
const typeOf = (status: number): string => types[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
