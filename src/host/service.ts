import type { FastifyInstance } from "fastify";
import type { Channel } from "../core/channel.ts";
import { Readiness } from "./http/readiness.ts";
import { openServer } from "./http/server.ts";
import { serviceLimits } from "./http/service-limits.ts";
import { type Host, type OpenOptions, openHost } from "./open.ts";
import { ownVersion } from "./version.ts";

export interface Service {
  readonly host: Host;
  readonly url: string;
  /**
   * Turns readiness off and refuses new runs; running ones get `limits.drain` to finish and are then interrupted, so that every
   * stream has its terminal event. Then closes the server, the journal and telemetry.
   */
  drain(): Promise<void>;
}

/** The long-running service: a host and the server with its channels. */
export async function openService(options: OpenOptions): Promise<Service> {
  const host = await openHost({ logLevel: "info", ...options });
  try {
    const { config, runs, admission, telemetry, journal, log } = host;
    const limits = serviceLimits(config.limits);
    const channels = await host.openChannels();
    const readiness = new Readiness(() => journal.ping());
    const server = await openServer({
      settings: config.server,
      limits,
      runs,
      admission,
      telemetry,
      log,
      audit: journal,
      clock: host.clock,
      ready: () => readiness.check(),
      eventLoop: () => host.eventLoop(),
      channels: channels.map(({ name, channel }) => ({ name, channel: channel as Channel<FastifyInstance> })), // a channel takes the server it is given
      version: ownVersion(),
    });
    return {
      host,
      url: server.url,
      drain: async () => {
        server.unready();
        admission.close();
        log.info("draining", { runs: admission.active, ms: limits.drain });
        await host.drain(limits.drain);
        await server.close();
        await host.close();
      },
    };
  } catch (thrown) {
    await host.close();
    throw thrown;
  }
}
