import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { VenturiError, wrap } from "../core/errors/errors.ts";
import type { Scope } from "../core/ports/scopes.ts";
import { retryAfter } from "../serve/http-error.ts";
import type { KeyHolder } from "./access/key-holder.ts";
import { fetchFrom } from "./http/bridge.ts";
import { buildServer } from "./http/server.ts";
import type { Host } from "./open.ts";
import { serverDeps } from "./service.ts";

const op = "server.mount";

/** A user of the program that mounts the service. */
export interface MountedCaller {
  readonly id: string;
  readonly tenant?: string;
  readonly agents?: readonly string[];
  /** Its scopes on the tenant's runs; default: `start`, `see`, `steer` and `approve`. */
  readonly may?: readonly Scope[];
  readonly context?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Identifies the caller; undefined refuses the request. */
export type IdentifyCaller = (request: Request) => MountedCaller | undefined | Promise<MountedCaller | undefined>;

/** The service's routes as handlers for another server. Built on the first request. */
export class MountedService {
  readonly #host: Host;
  readonly #caller: IdentifyCaller | undefined;
  #app: Promise<FastifyInstance> | undefined;
  #closing = false;

  constructor(host: Host, caller: IdentifyCaller | undefined) {
    this.#host = host;
    this.#caller = caller;
  }

  async fetch(request: Request, prefix: string): Promise<Response> {
    const path = pathBelow(request.url.slice(new URL(request.url).origin.length) || "/", prefix);
    if (path === undefined) return refused(noRoute(prefix));
    try {
      const app = await this.#ready();
      return await fetchFrom(app.server, request, path);
    } catch (thrown) {
      if (request.signal.aborted) throw thrown;
      return refused(wrap(op, thrown));
    }
  }

  node(request: IncomingMessage, response: ServerResponse, prefix: string): void {
    const path = pathBelow(request.url ?? "/", prefix);
    const refuse = (error: VenturiError) => {
      this.#host.log.error("a mounted request failed", { error: String(error) });
      if (response.headersSent) return void response.destroy();
      response.writeHead(error.status, { "content-type": "application/json", ...retryAfter(error) });
      response.end(JSON.stringify({ error }));
    };
    if (path === undefined) return refuse(noRoute(prefix));
    if (isRead(request)) {
      const message = "the request's body has been read; mount venturi.node before anything that parses bodies";
      return refuse(new VenturiError(op, "internal", message));
    }
    request.url = path;
    this.#ready().then(
      (app) => app.routing(request, response),
      (thrown: unknown) => refuse(wrap(op, thrown)),
    );
  }

  async close(): Promise<void> {
    this.#closing = true;
    const app = await this.#app?.catch(() => undefined);
    await app?.close();
  }

  #ready(): Promise<FastifyInstance> {
    if (this.#closing) throw new VenturiError(op, "shutting_down", "venturi is closed");
    this.#app ??= this.#build();
    return this.#app;
  }

  async #build(): Promise<FastifyInstance> {
    const deps = await serverDeps(this.#host);
    const { settings } = deps;
    const caller = this.#caller;
    // A program that authenticates knows its own host names. Otherwise only loopback hosts are accepted, against DNS rebinding.
    const isLocked = caller !== undefined || settings.auth !== undefined;
    const listen = isLocked ? { ...settings.listen, host: "0.0.0.0" } : settings.listen;
    const { app } = await buildServer(
      {
        ...deps,
        settings: { ...settings, listen },
        ...(caller === undefined ? {} : { identify: (request) => identify(caller, request) }),
      },
      () => this.#closing,
    );
    await app.ready();
    return app;
  }
}

/** As the service's own routes refuse. */
const refused = (error: VenturiError): Response =>
  Response.json({ error }, { status: error.status, headers: retryAfter(error) });

/** The path a route sees; undefined when the request is not below the prefix. */
function pathBelow(url: string, prefix: string): string | undefined {
  if (prefix === "") return url;
  if (!url.startsWith(prefix)) return undefined;
  const rest = url.slice(prefix.length);
  if (rest === "" || rest.startsWith("?")) return `/${rest}`;
  return rest.startsWith("/") ? rest : undefined;
}

const noRoute = (prefix: string): VenturiError =>
  new VenturiError(op, "not_found", `nothing is mounted here; paths begin with ${prefix}`);

/** Whether another parser already consumed the body; the routes would wait for it forever. */
function isRead({ headers, readableEnded }: IncomingMessage): boolean {
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return hasBody && readableEnded;
}

const usual: readonly Scope[] = ["start", "see", "steer", "approve"];

async function identify(caller: IdentifyCaller, { raw, protocol, host }: FastifyRequest): Promise<KeyHolder> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw.headers)) {
    for (const each of Array.isArray(value) ? value : value === undefined ? [] : [value]) headers.append(name, each);
  }
  const request = new Request(new URL(raw.url ?? "/", `${protocol}://${host || "localhost"}`), {
    method: raw.method ?? "GET",
    headers,
  });
  const found = await caller(request);
  if (found === undefined) throw new VenturiError("auth.check", "unauthorized", "sign in first");
  const { id, tenant = id, agents, context, metadata, may = usual } = found;
  return {
    id,
    tenant,
    agents,
    may: new Set(may),
    requestsPerMinute: undefined,
    concurrentRuns: undefined,
    context,
    ...(metadata === undefined ? {} : { metadata }),
  };
}
