import type { Dispatcher } from "undici";

/** How long an idle connection is kept for the next request where the server does not say how long it keeps it. */
const keepAlive = 30_000;

/** The exchange's own limit comes first and says so; the socket that nobody waits for any more is closed a little later. */
const grace = 500;

/**
 * The connections to a provider, from undici, which is loaded when it is first needed. Its dispatcher hands over what the
 * parser finds without a stream or a promise in between: half of what a generation costs with `node:http` under axios.
 */
export async function openConnections(settings: {
  readonly connectTimeout: number;
  readonly proxy: string | undefined;
}): Promise<Dispatcher> {
  const { Agent, ProxyAgent } = await import("undici");
  const { proxy } = settings;
  const connect = { timeout: settings.connectTimeout + grace };
  const limits = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: keepAlive };
  if (proxy === undefined) return new Agent({ ...limits, connect });
  return new ProxyAgent({
    ...limits,
    uri: proxy,
    proxyTunnel: false, // only a connection that is encrypted to its far end needs one
    requestTls: connect,
    proxyTls: connect,
  });
}
