import type { FastifyInstance } from "fastify";
import { OpenApi } from "./openapi.ts";
import { nameSchemas } from "./schema-names.ts";
import type { ServerDeps } from "./server-deps.ts";

/** Maximum size of a WebSocket message, which is unmasked, decoded and parsed in one turn: 4 MiB take 10 ms. */
const mostInMessage = 4 * 1024 ** 2;

/** Preloads the server's packages. A failure is reported where the package is used. */
export const loadHttp = (): Promise<unknown> =>
  Promise.allSettled([import("fastify"), import("@fastify/websocket"), import("@fastify/swagger")]);

export async function registerPlugins(app: FastifyInstance, deps: ServerDeps): Promise<void> {
  const { settings, limits, version } = deps;
  const origins = settings.cors?.origins ?? [];
  if (origins.length > 0) {
    const { default: cors } = await import("@fastify/cors");
    const exposed = ["x-venturi-run", "venturi-warnings", "x-request-id", "traceparent", "retry-after", "location"];
    await app.register(cors, {
      origin: origins.includes("*") ? true : origins,
      exposedHeaders: exposed,
      strictPreflight: false, // Otherwise an OPTIONS that is no preflight gets an error without op and code.
    });
  }
  const { default: websocket } = await import("@fastify/websocket");
  await app.register(websocket, {
    // Pongs are left to the channel: automatic ones would pile up for a peer that pings and never reads.
    options: {
      maxPayload: Math.min(limits.body, mostInMessage),
      autoPong: false,
      handleProtocols: (offered) => (offered.has("venturi") ? "venturi" : false),
    },
  });
  nameSchemas();
  const openApi = new OpenApi();
  const { default: swagger } = await import("@fastify/swagger");
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Venturi", version, description: "Runs of agents, as streams of events." },
      components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
      ...(settings.auth !== undefined ? { security: [{ key: [] }] } : {}),
    },
    transform: (route) => openApi.route(route),
    transformObject: (given) => openApi.document("openapiObject" in given ? given.openapiObject : {}),
  });
}
