import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Complaint } from "../../core/errors/complaints.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import { httpError, retryAfter } from "../../serve/http-error.ts";

/** Sends every failure as `{"error":{op,code,err,details?}}` with its code's status; logs internal errors. */
export function replyWithErrors(server: FastifyInstance, log: Log): void {
  server.setErrorHandler((thrown, request, reply) => {
    const error = httpError(thrown);
    if (error.code === "internal") {
      log.error("a request failed", { method: request.method, route: request.routeOptions.url, error: String(thrown) });
    }
    return sendError(reply, error);
  });
  server.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) =>
    sendError(
      reply,
      new VenturiError(
        "server.route",
        "not_found",
        `there is no ${request.method} ${pathOf(request.url)}; /openapi.json lists the routes`,
      ),
    ),
  );
}

export function sendError(reply: FastifyReply, error: VenturiError): FastifyReply {
  return reply.code(error.status).headers(retryAfter(error)).send({ error: error.toJSON() });
}

/** Validation errors of one place in a request (`body`, `querystring` …), each with its path. */
export function invalid(place: string, issues: readonly Complaint[]): VenturiError {
  const [first] = issues;
  const message = first === undefined ? "the request is not valid" : `${first.path || place}: ${first.message}`;
  const details = { issues: issues.slice(0, 20), ...(first?.path ? { param: first.path } : {}) };
  return new VenturiError("request.parse", "invalid_input", message, { details });
}

const pathOf = (url: string): string => url.split("?", 1).join().slice(0, 200);
