import {
  type ErrorJson,
  type FastifyInstance,
  type FastifyReply,
  fromJson,
  httpError,
  retryAfter,
  retryHint,
  type VenturiError,
} from "venturi/plugin";

/** Anthropic's shape of an error. */
export const errorBody = (error: ErrorJson): Record<string, unknown> => ({
  type: "error",
  error: { type: typeOf(fromJson(error).status), message: error.err, code: error.code },
});

export const failureFrame = (error: VenturiError): string => errorFrame(error.toJSON());
export const errorFrame = (error: ErrorJson): string => `event: error\ndata: ${JSON.stringify(errorBody(error))}\n\n`;

export function replyWithErrors(server: FastifyInstance): void {
  server.setErrorHandler((thrown, _request, reply) => replyToFailure(reply, httpError(thrown).toJSON()));
}

/** A request that was refused, or a run that failed before anything was sent. */
export function replyToFailure(reply: FastifyReply, json: ErrorJson): FastifyReply {
  const error = fromJson(json);
  return reply
    .code(error.status)
    .headers({ ...retryHint(error), ...retryAfter(error) })
    .send(errorBody(json));
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
