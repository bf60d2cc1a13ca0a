import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { VenturiError, wrap } from "../core/errors.ts";
import type { Log } from "../core/log.ts";

/** Every failure leaves as `{"error":{op,code,err,details?}}` with its code's status; a fault of our own is logged. */
export function replyWithErrors(server: FastifyInstance, log: Log): void {
  server.setErrorHandler((thrown, request, reply) => {
    const error = toVenturiError(thrown);
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
        `there is no ${request.method} ${pathOf(request.url)}; /openapi.json tells what there is`,
      ),
    ),
  );
}

function sendError(reply: FastifyReply, error: VenturiError): FastifyReply {
  return reply.code(error.status).headers(retryAfter(error)).send({ error: error.toJSON() });
}

/** What went wrong, in our words, whether a handler, a schema or Fastify itself said it. */
export function toVenturiError(thrown: unknown): VenturiError {
  if (thrown instanceof VenturiError) return thrown;
  if (thrown instanceof z.ZodError) return invalid(thrown);
  const fastify = thrown as Partial<FastifyError>; // whatever was thrown; each field is checked
  if (fastify?.code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new VenturiError("request.parse", "too_large", "the body is larger than limits.body allows");
  }
  const status = fastify?.statusCode;
  if (typeof status === "number" && status < 500) {
    return new VenturiError("request.parse", status === 404 ? "not_found" : "invalid_input", String(fastify.message));
  }
  return new VenturiError("server.handle", "internal", "a fault of the service itself; its log says more", {
    cause: wrap("server.handle", thrown),
  });
}

export function retryAfter(error: VenturiError): Record<string, string> {
  const wait = error.details?.retryAfterMs;
  if (typeof wait === "number") return { "retry-after": String(Math.max(1, Math.ceil(wait / 1000))) };
  return error.status === 503 || error.status === 429 ? { "retry-after": "1" } : {};
}

/** A zod error with the place of each complaint. */
export function invalid(error: z.ZodError): VenturiError {
  const issues = error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
  const [first] = issues;
  const message = first === undefined ? "the request is not valid" : `${first.path || "body"}: ${first.message}`;
  return new VenturiError("request.parse", "invalid_input", message, { details: { issues: issues.slice(0, 20) } });
}

const pathOf = (url: string): string => (url.split("?", 1)[0] ?? "").slice(0, 200);
