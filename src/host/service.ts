import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { Channel } from "../core/ports/channel.ts";
import { noTelemetry } from "../core/ports/telemetry.ts";
import type { LimitSettings } from "./config/server.ts";
import { loadHttp } from "./http/packages.ts";
import { Readiness } from "./http/readiness.ts";
import type { OwnReadiness } from "./http/readyz.ts";
import { openServer } from "./http/server.ts";
import type { ServerDeps } from "./http/server-deps.ts";
import { serviceLimits } from "./http/service-limits.ts";
import { type Host, type OpenOptions, openHost } from "./open.ts";
import type { Siblings } from "./processes/siblings.ts";
import { ownVersion } from "./system/version.ts";

export interface Service {
  readonly host: Host;
  readonly url: string;
  /** Handle of the listening socket, for another process to hold. */
  readonly handle: unknown;
  /** Whether this process takes runs now, and if not, why. */
  status(): Promise<OwnReadiness>;
  /** Takes connections from this socket, unless it takes some already. */
  take(socket: unknown): Promise<void>;
  /** Takes no more connections; those that are open stay. */
  rest(): void;
  /**
   * Turns readiness off and refuses new runs; running ones get `limits.drain` to finish and are then interrupted, so that every
   * stream has its terminal event, or released for another process (`limits.afterDrain`). Then closes the server, the journal
   * and telemetry.
   */
  drain(afterDrain?: LimitSettings["afterDrain"]): Promise<void>;
}

export interface ServiceOptions extends OpenOptions {
  /** The service runs in several processes, of which this is one. */
  readonly siblings?: Siblings;
  /** An open socket to listen on instead of `server.listen`. */
  readonly socket?: { readonly fd: number; readonly url: string };
}

/** A journal that takes longer to respond counts as not ready, ms. */
const readyPatience = 400;

/** What the server of a host is built from. */
export async function serverDeps(host: Host, siblings?: Siblings): Promise<ServerDeps> {
  const { config, runs, admission, refusals, memory, telemetry, journal, log, clock, writes } = host;
  const channels = await host.openChannels();
  const readiness = new Readiness({ ask: (bytes) => journal.ping(bytes), writes, clock });
  return {
    settings: config.server,
    limits: serviceLimits(config.limits),
    runs,
    admission,
    refusals,
    measure: telemetry,
    memory,
    telemetry: siblings === undefined ? telemetry : siblings.telemetry(telemetry),
    log,
    audit: journal,
    clock,
    siblings,
    ready: () => readiness.check(),
    eventLoop: () => host.eventLoop(),
    channels: channels.map(({ name, channel }) => ({ name, channel: channel as Channel<FastifyInstance> })), // Channels are generic over the server; the service's is Fastify.
    version: ownVersion(),
    traced: telemetry !== noTelemetry,
    inspect: host.inspect(siblings),
  };
}

/** The long-running service: a host and the server with its channels. */
export async function openService({ siblings, socket, ...options }: ServiceOptions): Promise<Service> {
  const host = await openHost({ logLevel: "info", meanwhile: loadHttp, ...options });
  try {
    const { admission, log, telemetry } = host;
    const deps = { ...(await serverDeps(host, siblings)), ...(socket === undefined ? {} : { socket }) };
    const { limits } = deps;
    const server = await openServer(deps);
    telemetry.observe("venturi.processes.ready", async () => {
      const status = await Promise.race([server.status(), sleep(readyPatience, undefined, { ref: false })]);
      return [{ value: status?.status === "ready" ? 1 : 0 }];
    });
    return {
      host,
      url: server.url,
      handle: Reflect.get(server.app.server, "_handle"),
      status: () => server.status(),
      take: (socket) => server.take(socket),
      rest: () => server.rest(),
      drain: async (afterDrain = limits.afterDrain) => {
        server.unready();
        admission.close();
        log.info("draining", { runs: admission.active, ms: limits.drain });
        await host.drain(limits.drain, afterDrain);
        await server.close();
        await siblings?.ended(await telemetry.metrics("openmetrics"));
        await host.close();
      },
    };
  } catch (thrown) {
    await host.close();
    throw thrown;
  }
}
