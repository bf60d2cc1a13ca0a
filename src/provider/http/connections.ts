import type { Dispatcher } from "undici";
import { directReads } from "./reads.ts";

/** Keep-alive of an idle connection where the server states none. */
const keepAliveTimeout = 30_000;

/** The exchange's own timeout fires first and reports it; undici closes the abandoned socket a little later. */
const grace = 500;

/** Loads what the first request of a provider needs. A failure is reported there. */
export const loadClient = (): Promise<unknown> => Promise.allSettled([import("undici")]);

/**
 * Connections to a provider through undici, loaded on first use. Its dispatcher passes parsed data on without a stream or
 * promise in between: half the cost per generation of axios over `node:http`.
 */
export async function openConnections(settings: {
  readonly connectTimeout: number;
  readonly proxy: string | undefined;
}): Promise<Dispatcher> {
  const { Agent, Pool, ProxyAgent } = await import("undici");
  const timeout = settings.connectTimeout + grace;
  const connect = { timeout };
  if (settings.proxy === undefined) return new Agent({ keepAliveTimeout, connect: { timeout, onread: directReads } });
  const { username, password } = new URL(settings.proxy);
  return new ProxyAgent({
    keepAliveTimeout,
    uri: settings.proxy,
    ...(username !== "" && { token: basicAuthorization(username, password) }),
    proxyTunnel: false, // Only TLS connections need a CONNECT tunnel.
    requestTls: connect,
    proxyTls: connect,
    // Used for CONNECT requests to the proxy: a proxy that does not answer counts as unreachable.
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: timeout }),
  });
}

/** From the percent-encoded userinfo of a URL. */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64")}`;
}
