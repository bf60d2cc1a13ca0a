import dns from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { z } from "zod";
import { VenturiError } from "../../core/errors/errors.ts";
import { type Place, placeOf } from "./addresses.ts";

/** Options of a tool with network access; spread into its own. */
export const egressOptions = {
  hosts: z.array(z.string()).optional().describe("allowed hosts, such as api.example.com or *.example.com:8443"),
  allowPrivate: z
    .array(z.string())
    .default([])
    .describe("host:port pairs that may be at a private address, such as 127.0.0.1:8080"),
  nameServers: z
    .array(z.string())
    .optional()
    .describe("name servers to use instead of the system's, such as 10.0.0.2 or 10.0.0.2:5353"),
};

export interface EgressOptions {
  readonly hosts: readonly string[];
  readonly allowPrivate: readonly string[];
  readonly nameServers?: readonly string[] | undefined;
}

interface Address {
  readonly address: string;
  readonly family: number;
}

/**
 * Where a tool may connect: a list of hosts, and the addresses their names may resolve to. Each connection resolves the name
 * once, checks its addresses and connects to exactly those, so DNS rebinding has no effect.
 */
export class Egress {
  readonly #options: EgressOptions;
  readonly #resolver: dns.promises.Resolver | undefined;

  constructor(options: EgressOptions) {
    this.#options = options;
    if (options.nameServers === undefined) return;
    this.#resolver = new dns.promises.Resolver({ timeout: 2_000, tries: 2 });
    this.#resolver.setServers(options.nameServers);
  }

  /** Throws `tool_denied` unless the URL is allowed. Names are checked when they are resolved. */
  check(url: URL): void {
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw denied(`${url.protocol} is not a protocol this tool supports`);
    if (url.username !== "" || url.password !== "") throw denied("an address with a user name in it is refused");
    if (!this.#options.hosts.some((host) => fits(host, url))) throw denied(`the host ${url.host} is not on the list`);
    const literal = url.hostname.replace(/^\[|\]$/g, "");
    if (isIP(literal) !== 0 && placeOf(literal) !== "public" && !this.mayBePrivate(url))
      throw privateAddress(url.hostname);
  }

  /** Whether the config allows a private address for this host and port. */
  mayBePrivate(url: URL): boolean {
    return this.#options.allowPrivate.includes(`${url.hostname}:${portOf(url)}`);
  }

  /** For `net.connect`, restricted to the given kinds of address. */
  lookup(allowed: readonly Place[]): LookupFunction {
    return (hostname, options, callback) => {
      this.#resolve(hostname, Number(options.family ?? 0) || 0)
        .then((addresses) => {
          // One bad address among good ones is an attack, not an alternative.
          const bad = addresses.find(({ address }) => !allowed.includes(placeOf(address)));
          if (bad !== undefined) throw privateAddress(hostname);
          const [first] = addresses;
          if (first === undefined) throw new VenturiError("tool.call", "unavailable", `${hostname} has no address`);
          if (options.all) callback(null, [...addresses]);
          else callback(null, first.address, first.family);
        })
        .catch((thrown) => callback(thrown, "", 0));
    };
  }

  async #resolve(hostname: string, family: number): Promise<readonly Address[]> {
    const resolver = this.#resolver;
    if (resolver === undefined) return await dns.promises.lookup(hostname, { all: true, family });
    const [four, six] = await Promise.allSettled([
      family === 6 ? [] : resolver.resolve4(hostname),
      family === 4 ? [] : resolver.resolve6(hostname),
    ]);
    if (four.status === "rejected" && six.status === "rejected") throw four.reason;
    const addresses = (settled: PromiseSettledResult<string[]>, of: number) =>
      settled.status === "fulfilled" ? settled.value.map((address) => ({ address, family: of })) : [];
    return [...addresses(four, 4), ...addresses(six, 6)];
  }
}

function fits(rule: string, url: URL): boolean {
  const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(rule.toLowerCase()) ?? [];
  if (port === undefined ? url.port !== "" : port !== portOf(url)) return false;
  if (name.startsWith("*.")) return url.hostname.endsWith(name.slice(1)) && url.hostname.length > name.length - 1;
  return url.hostname === name;
}

export const portOf = (url: URL): string => url.port || (url.protocol === "https:" ? "443" : "80");

const denied = (message: string) => new VenturiError("tool.call", "tool_denied", message);

const privateAddress = (host: string) =>
  denied(`the host ${host} is at a private address; the config would have to allow it under allowPrivate`);
