import {
  dataFrame,
  type ErrorJson,
  type FastifyInstance,
  type FastifyReply,
  fromJson,
  httpError,
  retryAfter,
  retryHint,
  type VenturiError,
} from "venturi/plugin";

/** OpenAI's shape of an error. */
export function errorBody(error: ErrorJson): { error: Record<string, unknown> } {
  const param = error.details?.param ?? null;
  return { error: { message: error.err, type: typeOf(fromJson(error).status), param, code: error.code } };
}

export const failureFrame = (error: VenturiError): string => dataFrame(errorBody(error.toJSON()));

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

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 || status === 499 ? "server_error" : "invalid_request_error";
}
