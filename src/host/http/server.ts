import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AuditEntry } from "../../core/audit.ts";
import type { Channel, ChannelHost } from "../../core/channel.ts";
import type { Clock } from "../../core/clock.ts";
import { messageOf, VenturiError, wrap } from "../../core/errors.ts";
import type { Inspect } from "../../core/inspect.ts";
import type { Journal } from "../../core/journal.ts";
import type { Runs } from "../../core/runs.ts";
import { traceparentOf } from "../../core/trace-context.ts";
import type { ServerSettings } from "../config/server.ts";
import { keepFairShare } from "../processes/fair-share.ts";
import type { SharedTelemetry } from "../processes/siblings.ts";
import type { Admission } from "../runs/admission.ts";
import { callerRuns } from "../runs/caller-runs.ts";
import { backlog, cannotListen, urlOf } from "./address.ts";
import { mountAudit } from "./audit.ts";
import { demand, Keyring, permit } from "./auth.ts";
import { Connections } from "./connections.ts";
import { replyWithErrors } from "./error-reply.ts";
import { FailedLogins } from "./failed-logins.ts";
import { tokenCheck } from "./jwt.ts";
import type { KeyHolder } from "./key-holder.ts";
import { createHttp } from "./listener.ts";
import { OpenApi, refuseQuery, serializerCompiler, validatorCompiler } from "./openapi.ts";
import { originCheck } from "./origin.ts";
import { mountReadyz, type OwnReadiness, ownReadiness, type ReadyParts, stopping } from "./readyz.ts";
import { nameSchemas } from "./schema-names.ts";
import type { ServiceLimits } from "./service-limits.ts";

export interface ServerParts extends ReadyParts {
  readonly settings: ServerSettings;
  readonly limits: ServiceLimits;
  readonly runs: Runs;
  readonly admission: Admission;
  readonly telemetry: SharedTelemetry;
  readonly audit: Pick<Journal, "audit" | "audits">;
  readonly clock: Clock;
  readonly channels: readonly { readonly name: string; readonly channel: Channel<FastifyInstance> }[];
  /** Authenticates in place of `settings.auth`: a program that mounts the service knows its own users. */
  readonly identify?: (request: FastifyRequest) => Promise<KeyHolder>;
  readonly version: string;
  readonly inspect?: Inspect;
}

export interface RunningServer {
  readonly url: string;
  readonly app: FastifyInstance;
  status(): Promise<OwnReadiness>;
  /** Readiness fails from now on; running work continues. */
  unready(): void;
  /** Stops accepting connections, waits up to `grace` ms for streams to finish, then cuts the rest. */
  close(grace?: number): Promise<void>;
}

export async function openServer(parts: ServerParts): Promise<RunningServer> {
  let draining = false;
  const { app, status } = await buildServer(parts, () => draining);
  const connections = new Connections(app.server);
  const url = await open(app, parts);
  if (parts.siblings !== undefined) keepFairShare(connections, parts.siblings);
  return {
    url,
    app,
    status,
    unready: () => {
      draining = true;
      // The next request of a kept connection would be refused here, and taken by a sibling on a new one.
      if (parts.siblings === undefined) return;
      app.server.close();
      connections.close();
    },
    close: async (grace = 2_000) => {
      draining = true;
      if (parts.siblings !== undefined) app.server.close();
      const cut = setTimeout(() => app.server.closeAllConnections(), grace);
      const closed = app.close();
      connections.close();
      await closed;
      await connections.closed;
      clearTimeout(cut);
    },
  };
}

/** The service's routes, ready to be mounted or to listen. */
export async function buildServer(
  parts: ServerParts,
  draining: () => boolean,
): Promise<{ readonly app: FastifyInstance; status(): Promise<OwnReadiness> }> {
  const { settings, log } = parts;
  const app = await createHttp(parts.limits, settings);
  replyWithErrors(app, log);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.addHook("onRoute", refuseQuery);
  await registerPlugins(app, parts);
  const callers = await guard(app, parts);
  const status = () => (draining() ? Promise.resolve(stopping()) : ownReadiness(parts));
  await app.register(async (scope) => operations(scope, { parts, callers, status }));
  for (const { name, channel } of parts.channels) await mount(app, { parts, callers, name, channel });
  return { app, status };
}

/** Listens on its own socket, or on the one it shares with other processes. */
async function open(app: FastifyInstance, { settings: { listen }, siblings }: ServerParts): Promise<string> {
  if (siblings !== undefined) {
    await app.ready();
    app.server.listen({ fd: siblings.socket, backlog });
    try {
      await once(app.server, "listening");
    } catch (thrown) {
      await app.close();
      throw cannotListen(listen, thrown);
    }
    return siblings.url;
  }
  try {
    await app.listen({ ...listen, backlog });
  } catch (thrown) {
    await app.close();
    throw cannotListen(listen, thrown);
  }
  return urlOf(listen.host, app.server);
}

/** Loads the packages that a server is made of. One that cannot be loaded is reported where it is used. */
export const loadHttp = (): Promise<unknown> =>
  Promise.allSettled([
    import("fastify"),
    import("@fastify/rate-limit"),
    import("@fastify/websocket"),
    import("@fastify/swagger"),
  ]);

async function registerPlugins(app: FastifyInstance, parts: ServerParts): Promise<void> {
  const { settings, limits, version } = parts;
  const origins = settings.cors?.origins ?? [];
  if (origins.length > 0) {
    const { default: cors } = await import("@fastify/cors");
    const exposed = ["x-venturi-run", "venturi-warnings", "x-request-id", "traceparent", "retry-after", "location"];
    await app.register(cors, {
      origin: origins.includes("*") ? true : origins,
      exposedHeaders: exposed,
    });
  }
  const { default: rateLimit } = await import("@fastify/rate-limit");
  await app.register(rateLimit, { global: false });
  const { default: websocket } = await import("@fastify/websocket");
  await app.register(websocket, {
    // Pongs are left to the channel: automatic ones would pile up for a peer that pings and never reads.
    options: {
      maxPayload: limits.body,
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

interface Callers {
  of(request: unknown): KeyHolder;
  charge(request: unknown): Promise<void>;
  /** The action has already happened, so a failure to audit it is only logged. */
  audit(entry: AuditEntry): Promise<void>;
}

/** Checks before every handler: Host and Origin, key, rate. */
async function guard(app: FastifyInstance, parts: ServerParts): Promise<Callers> {
  const { settings, audit, clock, log, siblings } = parts;
  const { auth } = settings;
  const keyring = new Keyring(auth, auth?.jwt && (await tokenCheck(auth.jwt)));
  const { identify = (request: FastifyRequest) => keyring.identify(request.headers) } = parts;
  const record = (entry: AuditEntry) =>
    audit.audit(entry).catch((thrown: unknown) => log.error("not audited", { ...entry, error: messageOf(thrown) }));
  const failures = new FailedLogins({ clock, log, audit: (entry) => void record(entry) });
  app.addHook("onClose", async () => failures.flush());
  const checkOrigin = originCheck(settings);
  const holders = new WeakMap<object, KeyHolder>();
  const count = app.createRateLimit({
    timeWindow: 60_000,
    max: (request) => holders.get(request)?.requestsPerMinute ?? Number.MAX_SAFE_INTEGER,
    keyGenerator: (request) => holders.get(request)?.id ?? request.ip,
  });
  const charge = async (request: FastifyRequest) => {
    const holder = holders.get(request);
    if (holder?.requestsPerMinute === undefined) return;
    const shared = await siblings?.count(holder.id, 60_000).catch(() => undefined);
    if (shared !== undefined && shared.current <= holder.requestsPerMinute) return;
    const result =
      shared === undefined ? await count(request) : { isAllowed: false, isExceeded: true, ttl: shared.ttl };
    if (result.isAllowed || !result.isExceeded) return;
    throw new VenturiError("auth.check", "rate_limited", "this key has used up its requests for this minute", {
      details: { retryAfterMs: result.ttl },
    });
  };
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(securityHeaders);
    reply.header("x-request-id", requestIdOf(request.headers["x-request-id"]));
    reply.header("traceparent", traceparentOf(request.headers.traceparent) ?? freshTraceparent());
    checkOrigin(request.headers, request.raw.rawHeaders);
    if (request.routeOptions.config.open === true) return;
    try {
      holders.set(request, await identify(request));
    } catch (thrown) {
      const error = wrap("auth.check", thrown);
      throw error.code === "unauthorized" ? failures.note(request.ip, error) : error;
    }
    await charge(request);
  });
  return {
    of: (request) => {
      const holder = typeof request === "object" && request !== null ? holders.get(request) : undefined;
      if (holder === undefined) throw new VenturiError("auth.check", "unauthorized", "send a key");
      return holder;
    },
    charge: (request) => charge(request as FastifyRequest), // the host's own request, handed back by a channel
    audit: record,
  };
}

/** The caller's request id if it is valid in a header, so that both sides' logs can be correlated. */
const requestIdOf = (asked: unknown): string =>
  typeof asked === "string" && /^[\w.:-]{1,128}$/.test(asked) ? asked : `req_${randomBytes(12).toString("hex")}`;

/** A trace context for a response without a trace, so that its reader has an id to quote. */
const freshTraceparent = (): string => `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-00`;

const securityHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

interface OperationParts {
  readonly parts: ServerParts;
  readonly callers: Callers;
  readonly status: () => Promise<OwnReadiness>;
}

function operations(app: FastifyInstance, { parts, callers, status }: OperationParts): void {
  const live = { summary: "The process answers", tags: ["operations"] };
  app.get("/livez", { config: { open: true }, schema: live }, async () => ({ status: "live" }));
  mountReadyz(app, parts, status);
  app.get("/metrics", { schema: { summary: "Prometheus metrics", tags: ["operations"] } }, async (request, reply) => {
    demand(callers.of(request), "metrics");
    const open = request.headers.accept?.includes("application/openmetrics-text") ?? false;
    const text = await parts.telemetry.metrics(open ? "openmetrics" : "prometheus");
    const type = open ? "application/openmetrics-text; version=1.0.0" : "text/plain; version=0.0.4";
    return reply.type(`${type}; charset=utf-8`).send(text);
  });
  mountAudit(app, { audit: parts.audit, caller: (request) => callers.of(request) });
  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());
}

async function mount(
  app: FastifyInstance,
  {
    parts,
    callers,
    name,
    channel,
  }: { parts: ServerParts; callers: Callers; name: string; channel: Channel<FastifyInstance> },
): Promise<void> {
  const { slowReader, keepAlive, stalled } = parts.limits;
  try {
    await app.register(async (scope) => {
      const host: ChannelHost<FastifyInstance> = {
        server: scope,
        log: parts.log,
        limits: { slowReader, keepAlive, stalled },
        caller: (request) => callers.of(request),
        permit,
        demand: (request, scope) => demand(callers.of(request), scope),
        inspect: parts.inspect ?? nothingToInspect,
        scopes: (request) => [...callers.of(request).may],
        runsFor: (request) => {
          // The request was counted on arrival; further starts on a socket are counted one by one.
          let starts = 0;
          const charge = async () => {
            if (starts++ > 0) await callers.charge(request);
          };
          return callerRuns(parts.runs, callers.of(request), {
            admission: parts.admission,
            charge,
            audit: (entry) => callers.audit(entry),
          });
        },
        trace: async (run) => parts.telemetry.trace(run),
      };
      await channel.mount(host);
    });
  } catch (thrown) {
    throw new VenturiError(
      "channel.mount",
      "plugin_failed",
      `the channel "${name}" could not be mounted: ${wrap("channel.mount", thrown).message}`,
      {
        cause: thrown,
      },
    );
  }
}

const unavailable = () => {
  throw new VenturiError("service.inspect", "not_found", "this program shows nothing of itself");
};
const nothingToInspect: Inspect = {
  service: unavailable,
  series: unavailable,
  decode: unavailable,
  mask: unavailable,
  fixture: unavailable,
};

declare module "fastify" {
  interface FastifyContextConfig {
    /** Needs no key. */
    open?: boolean;
  }
}
