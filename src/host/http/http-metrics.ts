import { performance } from "node:perf_hooks";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Telemetry } from "../../core/ports/telemetry.ts";

/** Methods that have a series of their own; a client may invent others. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]);

/** Metrics of the HTTP server by the conventions. A connection that becomes a WebSocket is not a request. */
export function measureRequests(app: FastifyInstance, telemetry: Pick<Telemetry, "shift" | "took">): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (request.headers.upgrade === undefined) measure(telemetry, request, reply);
    done();
  });
}

function measure(telemetry: Pick<Telemetry, "shift" | "took">, request: FastifyRequest, reply: FastifyReply): void {
  const began = performance.now();
  const asked = {
    "http.request.method": methods.has(request.method) ? request.method : "_OTHER",
    "url.scheme": request.protocol,
  };
  telemetry.shift("http.server.active_requests", 1, asked);
  // Emitted however it ends: sent, hijacked for a stream, or left by the client.
  reply.raw.once("close", () => {
    telemetry.shift("http.server.active_requests", -1, asked);
    const { statusCode, headersSent } = reply.raw;
    const route = request.routeOptions.url;
    telemetry.took("http.server.request.duration", performance.now() - began, {
      ...asked,
      ...(route === undefined ? {} : { "http.route": route }),
      ...(headersSent ? { "http.response.status_code": String(statusCode) } : {}),
      "network.protocol.version": request.raw.httpVersion,
      ...(headersSent
        ? statusCode >= 500
          ? { "error.type": String(statusCode) }
          : {}
        : { "error.type": "client_closed" }),
    });
  });
}
