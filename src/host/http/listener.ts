import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { VenturiError } from "../../core/errors/errors.ts";
import { httpError } from "../../serve/http-error.ts";
import type { ServerSettings } from "../config/server.ts";
import { sendError } from "./error-reply.ts";
import { firstOfAll } from "./every-reply.ts";
import type { ServiceLimits } from "./service-limits.ts";
import { ignoreOtherUpgrades, takesUpgrade } from "./upgrades.ts";

/** An HTTP server with bounds on every input: headers, body, nesting, time; no decompression. */
export async function createHttp(limits: ServiceLimits, settings: ServerSettings): Promise<FastifyInstance> {
  const { fastify } = await import("fastify");
  const { trustProxy } = settings;
  const before = firstOfAll(settings);
  const app = fastify({
    logger: false,
    trustProxy,
    bodyLimit: limits.body,
    requestTimeout: limits.request,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 256 },
    // The server sets its own compilers. Without these placeholders Fastify would still load Ajv and fast-json-stringify.
    schemaController: { compilersFactory: { buildValidator: notUsed, buildSerializer: notUsed } },
    http: {
      maxHeaderSize: limits.headers,
      headersTimeout: limits.request,
      connectionsCheckingInterval: Math.min(5_000, Math.ceil(limits.request / 4)),
      shouldUpgradeCallback: takesUpgrade,
    },
    // A URL that the router cannot parse reaches no hook.
    frameworkErrors: (error, request, reply) => {
      try {
        before(request, reply);
        sendError(reply, unreadable(error));
      } catch (thrown) {
        sendError(reply, httpError(thrown));
      }
    },
    clientErrorHandler: (error, socket) => refuse(error, socket),
  });
  ignoreOtherUpgrades(app.server);
  app.addHook("preParsing", async (request) => {
    const encoding = request.headers["content-encoding"];
    if (encoding === undefined || encoding === "identity") return;
    throw new VenturiError("request.parse", "invalid_input", "send the body uncompressed");
  });
  return app;
}

const unreadable = ({ code, message }: { readonly code: string; readonly message: string }): VenturiError =>
  code === "FST_ERR_MAX_PARAM_LENGTH"
    ? new VenturiError("server.route", "too_large", "a segment of the path is longer than any name here")
    : new VenturiError("server.route", "invalid_input", message.slice(0, 300));

const notUsed = (): never => {
  throw new TypeError("set a compiler for schemas before adding routes");
};

const clientErrors: Readonly<Record<string, { status: string; error: VenturiError }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: "408 Request Timeout",
    error: new VenturiError("request.read", "timeout", "the request took too long to arrive"),
  },
  HPE_HEADER_OVERFLOW: {
    status: "431 Request Header Fields Too Large",
    error: new VenturiError("request.read", "too_large", "the headers are larger than allowed"),
  },
};
const malformed = {
  status: "400 Bad Request",
  error: new VenturiError("request.read", "invalid_input", "this is not a valid HTTP request"),
};

/** Input that cannot be parsed as a request is answered on the raw socket, which is then closed. */
function refuse(thrown: NodeJS.ErrnoException, socket: Socket): void {
  if (thrown.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, error } = clientErrors[String(thrown.code)] ?? malformed;
  const body = JSON.stringify({ error });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
