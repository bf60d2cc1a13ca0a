import { randomUUID } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { traceparentOf } from "../../core/values/trace-context.ts";
import type { ServerSettings } from "../config/server.ts";
import { originCheck } from "./origin.ts";

/**
 * Runs before everything else, even for a URL the router cannot parse: sets the headers of every reply and checks Host and Origin. Returns
 * the trace context of a reply that is not about a run.
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

/** Drops a header that cannot be sent, such as one with a line break from the URL; otherwise the body would be lost with it. */
export function dropUnsendable(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (typeof value === "string" && unsendable.test(value)) reply.removeHeader(name);
  }
}

/** The same check as Node's. */
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
