import { once } from "node:events";
import { Server } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { Channel, ChannelHost } from "../../core/ports/channel.ts";
import type { Account } from "../../core/ports/held.ts";
import type { Inspect } from "../../core/ports/inspect.ts";
import { Turns } from "../../core/values/turns.ts";
import { demand, permit } from "../access/auth.ts";
import { CallerRuns } from "../access/caller-runs.ts";
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
import type { ServerDeps } from "./server-deps.ts";

/** Concurrent reads per tenant: each may load a page, event or blob of any size. */
const readsAtOnce = 2;

export interface RunningServer {
  readonly url: string;
  readonly app: FastifyInstance;
  status(): Promise<OwnReadiness>;
  /** Readiness fails from now on; running work continues. */
  unready(): void;
  /** Takes connections from this socket, unless it takes some already. */
  take(socket: unknown): Promise<void>;
  /** Takes no more connections; those that are open stay. */
  rest(): void;
  /** Stops accepting connections, waits up to `grace` ms for streams to finish, then cuts the rest. */
  close(grace?: number): Promise<void>;
}

export async function openServer(deps: ServerDeps): Promise<RunningServer> {
  let draining = false;
  const { app, status } = await buildServer(deps, () => draining);
  const connections = new Connections(app.server);
  const url = await open(app, deps);
  const { siblings, memory, admission } = deps;
  const held = () => ({
    runs: admission.active,
    mostRuns: admission.most,
    memory: memory.held / (memory.held + Math.max(memory.free, 1)),
  });
  if (siblings !== undefined) keepFairShare(connections, siblings, held);
  return {
    url,
    app,
    status,
    take: async (socket) => {
      if (draining || app.server.listening) return (socket as Closable).close();
      app.server.listen(socket, backlog);
      await once(app.server, "listening");
    },
    // Not the HTTP server's own `close`, which stops watching over requests under way.
    rest: () => void Server.prototype.close.call(app.server),
    unready: () => {
      draining = true;
      // A kept-alive connection's next request would be refused here; on a new connection a sibling takes it.
      if (deps.siblings === undefined) return;
      app.server.close();
      connections.close();
    },
    close: async (grace = 2_000) => {
      draining = true;
      if (deps.siblings !== undefined) app.server.close();
      const cut = setTimeout(() => connections.cut(), grace);
      const closed = app.close();
      connections.close();
      await closed;
      await connections.closed;
      clearTimeout(cut);
    },
  };
}

interface Closable {
  close(): void;
}

/** Builds the service's routes, ready to mount or to listen. */
export async function buildServer(
  deps: ServerDeps,
  draining: () => boolean,
): Promise<{ readonly app: FastifyInstance; status(): Promise<OwnReadiness> }> {
  const { settings, log } = deps;
  const app = await createHttp(deps.limits, settings);
  replyWithErrors(app, log);
  if (deps.measure !== undefined) measureRequests(app, deps.measure);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.addHook("onRoute", refuseQuery);
  await registerPlugins(app, deps);
  const callers = await guard(app, deps);
  const account = (request: unknown) => deps.memory.of(callers.tenantOf(request));
  sendLargeReplies(app, { limits: deps.limits, account });
  const bodies = readJsonBodies(app, { limits: deps.limits, account });
  const status = () => (draining() ? Promise.resolve(stopping()) : ownReadiness(deps));
  await app.register(async (scope) => operations(scope, { deps, callers, status }));
  const shared = { deps, callers, bodies, account, turns: new Turns(readsAtOnce) };
  for (const each of deps.channels) await mount(app, { ...shared, ...each });
  return { app, status };
}

/** Listens on its own socket, or on the one shared with other processes. */
async function open(app: FastifyInstance, { settings: { listen }, siblings, socket }: ServerDeps): Promise<string> {
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

interface OperationDeps {
  readonly deps: ServerDeps;
  readonly callers: Callers;
  readonly status: () => Promise<OwnReadiness>;
}

function operations(app: FastifyInstance, { deps, callers, status }: OperationDeps): void {
  const live = { summary: "The process answers", tags: ["operations"] };
  app.get("/livez", { config: { open: true }, schema: live }, async () => ({ status: "live" }));
  mountReadyz(app, deps, status);
  app.get("/metrics", { schema: { summary: "Prometheus metrics", tags: ["operations"] } }, async (request, reply) => {
    demand(callers.of(request), "metrics");
    const open = request.headers.accept?.includes("application/openmetrics-text") ?? false;
    const text = await deps.telemetry.metrics(open ? "openmetrics" : "prometheus");
    const type = open ? "application/openmetrics-text; version=1.0.0" : "text/plain; version=0.0.4";
    return reply.type(`${type}; charset=utf-8`).send(text);
  });
  mountAudit(app, { audit: deps.audit, caller: (request) => callers.of(request) });
  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());
}

interface MountDeps {
  readonly deps: ServerDeps;
  readonly callers: Callers;
  readonly bodies: Bodies;
  readonly account: (request: unknown) => Account;
  readonly turns: Turns;
  readonly name: string;
  readonly channel: Channel<FastifyInstance>;
}

async function mount(
  app: FastifyInstance,
  { deps, callers, bodies, account, turns, name, channel }: MountDeps,
): Promise<void> {
  const { slowReader, keepAlive, firstOutput, stalled, body } = deps.limits;
  try {
    await app.register(async (scope) => {
      const host: ChannelHost<FastifyInstance> = {
        server: scope,
        log: deps.log,
        limits: { slowReader, keepAlive, firstOutput, stalled, body, account },
        caller: (request) => callers.of(request),
        permit,
        demand: (request, scope) => demand(callers.of(request), scope),
        inspect: deps.inspect ?? nothingToInspect,
        account,
        refused: (request, error) => callers.refused(request, error),
        scopes: (request) => [...callers.of(request).may],
        runsFor: (request) => {
          // A non-read request was counted on arrival; further starts on the same socket are counted one by one.
          let starts = isRead(request as FastifyRequest) ? 1 : 0;
          const charge = async () => {
            if (starts++ > 0) await callers.charge(request);
          };
          return new CallerRuns(deps.runs, callers.of(request), {
            admission: deps.admission,
            held: () => bodies.of(request),
            turns,
            refused: (error) => deps.refusals?.note(error, callers.of(request)),
            charge,
            audit: (entry) => callers.audit(entry),
          });
        },
        requestRate: (request) => callers.rateOf(request),
        trace: async (run) => deps.telemetry.trace(run),
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
    /** Accepts any content type, as raw bytes: signatures are of those. */
    raw?: boolean;
  }
}
