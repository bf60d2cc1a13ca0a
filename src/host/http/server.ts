import { once } from "node:events";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { Channel, ChannelHost } from "../../core/ports/channel.ts";
import type { Account } from "../../core/ports/held.ts";
import type { Inspect } from "../../core/ports/inspect.ts";
import { demand, permit } from "../access/auth.ts";
import { CallerRuns } from "../access/caller-runs.ts";
import { Turns } from "../memory/turns.ts";
import { backlog, cannotListen, urlOf } from "../processes/address.ts";
import { keepFairShare } from "../processes/fair-share.ts";
import { mountAudit } from "./audit.ts";
import { Connections } from "./connections.ts";
import { replyWithErrors } from "./error-reply.ts";
import { type Callers, guard, isRead } from "./guard.ts";
import { measureRequests } from "./http-metrics.ts";
import { type Bodies, readJsonBodies } from "./json-body.ts";
import { sendLargeReplies } from "./large-replies.ts";
import { createHttp } from "./listener.ts";
import { refuseQuery, serializerCompiler, validatorCompiler } from "./openapi.ts";
import { registerPlugins } from "./packages.ts";
import { mountReadyz, type OwnReadiness, ownReadiness, stopping } from "./readyz.ts";
import type { ServerParts } from "./server-parts.ts";

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
      // A kept-alive connection's next request would be refused here; on a new connection a sibling takes it.
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

/** Builds the service's routes, ready to mount or to listen. */
export async function buildServer(
  parts: ServerParts,
  draining: () => boolean,
): Promise<{ readonly app: FastifyInstance; status(): Promise<OwnReadiness> }> {
  const { settings, log } = parts;
  const app = await createHttp(parts.limits, settings);
  replyWithErrors(app, log);
  if (parts.measure !== undefined) measureRequests(app, parts.measure);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.addHook("onRoute", refuseQuery);
  await registerPlugins(app, parts);
  const callers = await guard(app, parts);
  const account = (request: unknown) => parts.memory.of(callers.tenantOf(request));
  sendLargeReplies(app, { limits: parts.limits, account });
  const bodies = readJsonBodies(app, { limits: parts.limits, account });
  const status = () => (draining() ? Promise.resolve(stopping()) : ownReadiness(parts));
  await app.register(async (scope) => operations(scope, { parts, callers, status }));
  const shared = { parts, callers, bodies, account, turns: new Turns() };
  for (const each of parts.channels) await mount(app, { ...shared, ...each });
  return { app, status };
}

/** Listens on its own socket, or on the one shared with other processes. */
async function open(app: FastifyInstance, { settings: { listen }, siblings, socket }: ServerParts): Promise<string> {
  const given = socket ?? (siblings && { fd: siblings.socket, url: siblings.url });
  if (given !== undefined) {
    await app.ready();
    app.server.listen({ fd: given.fd, backlog });
    try {
      await once(app.server, "listening");
    } catch (thrown) {
      await app.close();
      throw cannotListen(listen, thrown);
    }
    return given.url;
  }
  try {
    await app.listen({ ...listen, backlog });
  } catch (thrown) {
    await app.close();
    throw cannotListen(listen, thrown);
  }
  return urlOf(listen.host, app.server);
}

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

interface MountParts {
  readonly parts: ServerParts;
  readonly callers: Callers;
  readonly bodies: Bodies;
  readonly account: (request: unknown) => Account;
  readonly turns: Turns;
  readonly name: string;
  readonly channel: Channel<FastifyInstance>;
}

async function mount(
  app: FastifyInstance,
  { parts, callers, bodies, account, turns, name, channel }: MountParts,
): Promise<void> {
  const { slowReader, keepAlive, firstOutput, stalled, body } = parts.limits;
  try {
    await app.register(async (scope) => {
      const host: ChannelHost<FastifyInstance> = {
        server: scope,
        log: parts.log,
        limits: { slowReader, keepAlive, firstOutput, stalled, body, account },
        caller: (request) => callers.of(request),
        permit,
        demand: (request, scope) => demand(callers.of(request), scope),
        inspect: parts.inspect ?? nothingToInspect,
        account,
        scopes: (request) => [...callers.of(request).may],
        runsFor: (request) => {
          // A non-read request was counted on arrival; further starts on the same socket are counted one by one.
          let starts = isRead(request as FastifyRequest) ? 1 : 0;
          const charge = async () => {
            if (starts++ > 0) await callers.charge(request);
          };
          return new CallerRuns(parts.runs, callers.of(request), {
            admission: parts.admission,
            held: () => bodies.of(request),
            turns,
            refused: (error) => parts.refusals?.note(error, callers.of(request)),
            charge,
            audit: (entry) => callers.audit(entry),
          });
        },
        requestRate: (request) => callers.rateOf(request),
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
  datasets: unavailable,
  addToDataset: unavailable,
};

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route needs no key. */
    open?: boolean;
    /** Accepts multipart/form-data as raw bytes. */
    form?: boolean;
  }
}
