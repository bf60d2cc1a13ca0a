import {
  dataFrame,
  type ErrorJson,
  type FastifyInstance,
  type FastifyReply,
  fromJson,
  VenturiError,
  wrap,
} from "venturi/plugin";

/** OpenAI's shape of an error. */
export function errorBody(error: ErrorJson): { error: Record<string, unknown> } {
  return { error: { message: error.err, type: typeOf(fromJson(error).status), param: null, code: error.code } };
}

export function replyWithErrors(server: FastifyInstance): void {
  server.setErrorHandler((thrown, _request, reply) => {
    const error = asVenturiError(thrown);
    const wait = error.details?.retryAfterMs;
    if (typeof wait === "number") reply.header("retry-after", Math.max(1, Math.ceil(wait / 1000)));
    return reply.code(error.status).headers(retryHint(error)).send(errorBody(error.toJSON()));
  });
}

export const failureFrame = (error: VenturiError): string => dataFrame(errorBody(error.toJSON()));

/** A run that failed before anything was sent. */
export function replyToFailure(reply: FastifyReply, json: ErrorJson): FastifyReply {
  const error = fromJson(json);
  return reply.code(error.status).headers(retryHint(error)).send(errorBody(json));
}

/** OpenAI's clients repeat 409 and 5xx on their own unless told not to; a run that failed for good is not to be repeated. */
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
  return new VenturiError("server.handle", "internal", "a fault of the service itself", {
    cause: wrap("server.handle", thrown),
  });
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 || status === 499 ? "server_error" : "invalid_request_error";
}
