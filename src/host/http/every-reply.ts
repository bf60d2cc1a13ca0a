import { randomUUID } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { traceparentOf } from "../../core/values/trace-context.ts";
import type { ServerSettings } from "../config/server.ts";
import { originCheck } from "./origin.ts";

/**
 * What comes before anything else, also for a URL that the router cannot read: the headers of every reply, and whether this
 * service answers to the request's Host and Origin. Returns the trace context that the reply has unless it is about a run.
 */
export function firstOfAll(settings: ServerSettings): (request: FastifyRequest, reply: FastifyReply) => string {
  const checkOrigin = originCheck(settings);
  return (request, reply) => {
    const { headers } = request;
    const trace = traceparentOf(headers.traceparent) ?? freshTraceparent();
    reply.headers(securityHeaders);
    reply.header("x-request-id", requestIdOf(headers["x-request-id"]));
    reply.header("traceparent", trace);
    checkOrigin(headers, request.raw.rawHeaders);
    return trace;
  };
}

/** A header that cannot be sent, such as one with a line end out of the URL, would take the body with it. */
export function dropUnsendable(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (typeof value === "string" && unsendable.test(value)) reply.removeHeader(name);
  }
}

/** As Node checks header values. */
const unsendable = /[^\t\x20-\x7e\x80-\xff]/;

/** The caller's request id if it is valid in a header, so that both sides' logs can be correlated. */
const requestIdOf = (asked: unknown): string =>
  typeof asked === "string" && /^[\w.:-]{1,128}$/.test(asked) ? asked : `req_${hex32().slice(8)}`;

/** A trace context for a response without a trace, so that its reader has an id to quote. */
const freshTraceparent = (): string => `00-${hex32()}-${hex32().slice(16)}-00`;

/** From a UUID, because Node generates those in bulk but random bytes one by one. */
const hex32 = (): string => randomUUID().replaceAll("-", "");

const securityHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};
