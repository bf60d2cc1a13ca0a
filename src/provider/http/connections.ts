import type { Dispatcher } from "undici";

/** How long an idle connection is kept for the next request where the server does not say how long it keeps it. */
const keepAliveTimeout = 30_000;

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
  const { Agent, Pool, ProxyAgent } = await import("undici");
  const timeout = settings.connectTimeout + grace;
  const connect = { timeout };
  if (settings.proxy === undefined) return new Agent({ keepAliveTimeout, connect });
  const { username, password } = new URL(settings.proxy);
  return new ProxyAgent({
    keepAliveTimeout,
    uri: settings.proxy,
    ...(username !== "" && { token: basicAuthorization(username, password) }),
    proxyTunnel: false, // only a connection that is encrypted to its far end needs one
    requestTls: connect,
    proxyTls: connect,
    // It asks the proxy for tunnels, and a proxy that stays silent is one that could not be reached.
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: timeout }),
  });
}

/** From the parts of a URL as they stand there. */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64")}`;
}
