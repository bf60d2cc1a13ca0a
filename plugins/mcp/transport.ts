import { resolve } from "node:path";
import type { OAuthClientProvider, Transport } from "@modelcontextprotocol/client";
import { Egress, egressFetch, headerSecrets, namesPrivate } from "venturi/internal";
import type { EgressFetch } from "venturi/plugin";
import type { LastLines } from "./last-lines.ts";
import type { McpOptions } from "./options.ts";
import { failUnanswered } from "./unanswered.ts";

/** A new transport to the server. The libraries are loaded on first use. */
export async function openTransport(
  options: McpOptions,
  { folder, lines }: { readonly folder: string; readonly lines: LastLines },
  authProvider?: OAuthClientProvider,
): Promise<Transport> {
  if (options.url !== undefined) {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const url = new URL(options.url);
    const hosts = new GuardedHosts(options, url);
    const transport = new StreamableHTTPClientTransport(url, {
      fetch: (target, init) => hosts.fetch(target, init),
      ...(authProvider === undefined ? {} : { authProvider }),
    }) as Transport; // its sessionId is optional in another way
    failUnanswered(transport);
    const closeTransport = transport.close.bind(transport);
    transport.close = async () => {
      await closeTransport();
      await hosts.close();
    };
    return transport;
  }
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  // The library probes its own class on a second process. It takes a subclass as it is, and probes on the one process.
  class SingleProcess extends StdioClientTransport {}
  const transport = new SingleProcess({
    command: options.command ?? "",
    args: options.args,
    // The library adds PATH, HOME and the like, and nothing else from this process's environment.
    env: { ...passed(options), ...options.env },
    cwd: options.cwd === undefined ? folder : resolve(folder, options.cwd),
    stderr: "pipe",
  });
  transport.stderr?.on("data", (piece: Buffer) => lines.take(piece.toString("utf8")));
  return transport;
}

/** Authorization servers that one transport asks. */
const mostIssuers = 8;

/** Requests to the server, with its headers, and to the authorization servers that it names, without them. */
class GuardedHosts {
  readonly #options: McpOptions;
  readonly #url: URL;
  readonly #server: EgressFetch;
  readonly #issuers = new Map<string, EgressFetch>();

  constructor(options: McpOptions, url: URL) {
    this.#options = options;
    this.#url = url;
    this.#server = egressFetch(egressOf(options, url));
  }

  async fetch(target: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(target);
    const { auth, headers: own } = this.#options;
    if (auth !== undefined && url.host !== this.#url.host) return asGlobal(await this.#issuer(url).fetch(url, init));
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    // Redirects are errors: the headers may hold credentials.
    const response = await this.#server.fetch(url, { ...init, headers, redirect: "error" });
    return auth === undefined ? response : asGlobal(response);
  }

  async close(): Promise<void> {
    await Promise.all([this.#server, ...this.#issuers.values()].map((one) => one.close()));
  }

  #issuer(url: URL): EgressFetch {
    const known = this.#issuers.get(url.host);
    if (known !== undefined) return known;
    if (this.#issuers.size >= mostIssuers) throw new Error("the server names too many authorization servers");
    const { hosts = [url.host], allowPrivate = [] } = this.#options.auth ?? {};
    const made = egressFetch(new Egress({ hosts, allowPrivate, nameServers: this.#options.nameServers }));
    this.#issuers.set(url.host, made);
    return made;
  }
}

/** The library's OAuth tells responses by their class, and undici's own is not the global one. */
const asGlobal = ({ body, status, statusText, headers }: Response): Response =>
  new Response(body, { status, statusText, headers: [...headers] });

/** The server's host unless the config has a list; a private address only where the config names one. */
const egressOf = (options: McpOptions, url: URL): Egress =>
  new Egress({
    hosts: options.hosts ?? [url.host],
    allowPrivate: [...namesPrivate(url), ...options.allowPrivate],
    nameServers: options.nameServers,
  });

/** Values the config passes to the server; redacted from results. */
export const secretsOf = (options: McpOptions): Record<string, string> => ({
  ...passed(options),
  ...options.env,
  ...headerSecrets(options.headers),
  ...authSecrets(options),
});

const authSecrets = ({ auth }: McpOptions): Record<string, string> => ({
  ...(auth?.clientSecret === undefined ? {} : { clientSecret: auth.clientSecret }),
  ...(auth?.secret === undefined ? {} : { secret: auth.secret }),
});

function passed(options: McpOptions): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of options.passEnv) {
    const value = process.env[name];
    if (value !== undefined) values[name] = value;
  }
  return values;
}
