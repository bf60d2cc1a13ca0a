import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { VenturiError } from "../../core/errors.ts";
import type { ServerSettings } from "../config/server.ts";
import type { ServiceLimits } from "./service-limits.ts";
import { ignoreOtherUpgrades, takesUpgrade } from "./upgrades.ts";

/** An HTTP server with bounds on every input: headers, body, nesting, time; no decompression. */
export async function createHttp(
  limits: ServiceLimits,
  { trustProxy }: Pick<ServerSettings, "trustProxy">,
): Promise<FastifyInstance> {
  const { fastify } = await import("fastify");
  const app = fastify({
    logger: false,
    trustProxy,
    bodyLimit: limits.body,
    requestTimeout: limits.request,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 256 },
    // The server sets its own compilers. Without these Fastify would load Ajv and fast-json-stringify all the same.
    schemaController: { compilersFactory: { buildValidator: notUsed, buildSerializer: notUsed } },
    http: {
      maxHeaderSize: limits.headers,
      headersTimeout: limits.request,
      connectionsCheckingInterval: Math.min(5_000, Math.ceil(limits.request / 4)),
      shouldUpgradeCallback: takesUpgrade,
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
  const { status, error } = clientErrors[thrown.code ?? ""] ?? malformed;
  const body = JSON.stringify({ error });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
