import { performance } from "node:perf_hooks";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Telemetry } from "../../core/ports/telemetry.ts";

/** Known methods get their own time series; clients can invent others. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]);

/** HTTP server metrics following the semantic conventions. A WebSocket connection is not counted as a request. */
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
  // Emitted however the response ends: sent, hijacked for a stream, or dropped by the client.
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
